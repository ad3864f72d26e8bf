import type { RecordedEvent } from '../../domain/events.ts'
import { isRecordStream } from '../../domain/streams.ts'
import { unreadableTypeCharsMax, unreadableWhyCharsMax } from '../../limits.ts'
import { UndecodableEvent } from '../event-log.ts'

/** What is known of an event without its data. */
export type Unread = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  /** Empty if it can't be read. */
  readonly id: string
  /** 0 if it can't be read. */
  readonly recordedAt: number
}

/**
 * Stands for an event that can't be read, where that may be: in streams of records, which decide nothing.
 * @throws `cause` in any other stream, and what is not an `UndecodableEvent`.
 */
export const unreadableRecord = (
  cause: unknown,
  { stream, revision, position, id, recordedAt }: Unread,
): RecordedEvent<'RecordUnreadable'> => {
  if (!(cause instanceof UndecodableEvent) || !isRecordStream(stream)) throw cause
  const data = {
    type: cause.type.slice(0, unreadableTypeCharsMax),
    why: cause.why.slice(0, unreadableWhyCharsMax),
  }
  const metadata = { by: { kind: 'system' }, requestId: '', correlationId: '', causationId: '' } as const
  return { stream, revision, position, id, recordedAt, type: 'RecordUnreadable', data, metadata }
}

/** The field of an object that was stored, if it is of that type. */
export const storedText = (stored: unknown, name: 'id'): string => {
  const value = fieldOf(stored, name)
  return typeof value === 'string' ? value : ''
}

export const storedInstant = (stored: unknown, name: 'recordedAt'): number => {
  const value = fieldOf(stored, name)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

const fieldOf = (stored: unknown, name: string): unknown =>
  typeof stored === 'object' && stored !== null ? Reflect.get(stored, name) : undefined
