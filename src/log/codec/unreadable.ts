import type { RecordedEvent } from '../../domain/events.ts'
import { isRecordStream } from '../../domain/stream-names.ts'
import { UndecodableEvent } from '../event-log.ts'
import { recordedAtMax } from '../storable.ts'

export const unreadableTypeCharsMax = 100
export const unreadableWhyCharsMax = 300

export type Unread = {
  readonly stream: string
  readonly revision: number
  readonly position: number
  /** Empty if it cannot be read. */
  readonly id: string
  /** 0 if it cannot be read. */
  readonly recordedAt: number
}

/**
 * No decision uses a record, so the service can go on. @throws `cause` if the stream holds no records, or if `cause` is not
 * an `UndecodableEvent`
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

export const storedIdOf = (stored: unknown): string => {
  const value = fieldOf(stored, 'id')
  return typeof value === 'string' ? value : ''
}

export const storedTimeOf = (stored: unknown): number => {
  const value = fieldOf(stored, 'recordedAt')
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= recordedAtMax ? value : 0
}

const fieldOf = (stored: unknown, name: string): unknown =>
  typeof stored === 'object' && stored !== null ? Reflect.get(stored, name) : undefined
