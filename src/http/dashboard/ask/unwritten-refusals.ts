/** A summary is written 10 seconds to 10 minutes after its first refusal. Until then people would look for it in vain. */

import type { Core } from '../../../actors/core-interface.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { isOfRack, type LogFilter, matches } from '../../../domain/search/event-filter.ts'
import { nodeRefusalsStream, refusalsStream } from '../../../domain/stream-names.ts'
import { placeOf } from '../../../log/event-place.ts'

export const logEventsPerPageMax = 50

export type Summary = RecordedEvent<'ReadingsRefused'>

/** As events that may be written soon: they lie behind all others, and have a revision that no event has. Newest first. */
export const unwrittenRefusals = (core: Core, filter: LogFilter): readonly Summary[] => {
  const { keys } = core.projections
  const cellars = { ofKey: (keyId: string) => keys.get(keyId)?.cellar ?? null, ofStream: () => null }
  return core.refusals
    .waiting()
    .map(({ keyId, data }) => ({
      ...unwritten,
      stream: keyId === null ? nodeRefusalsStream : refusalsStream(keyId),
      recordedAt: data.to,
      data,
    }))
    .filter((event) => isOfRack(event, filter.rack) && matches<string>(placeOf(event, cellars), filter))
    .sort((one, other) => other.data.to - one.data.to)
    .slice(0, logEventsPerPageMax)
}

/** A summary can be written while the log is searched. */
export const writtenAmong =
  (found: readonly RecordedEvent[]) =>
  ({ stream, data }: Summary): boolean =>
    found.some((event) => event.stream === stream && event.type === 'ReadingsRefused' && event.data.from === data.from)

export const isWritten = ({ revision }: Pick<RecordedEvent, 'revision'>): boolean => revision !== unwritten.revision

const unwritten = {
  id: '',
  type: 'ReadingsRefused',
  revision: -1,
  position: Number.MAX_SAFE_INTEGER,
  metadata: { by: { kind: 'system' }, requestId: '', correlationId: '', causationId: '' },
} as const
