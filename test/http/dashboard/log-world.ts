import type { Core } from '../../../src/actors/core.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { keyOfEvent } from '../../../src/domain/search/event-filter.ts'
import { type AskOptions, naiveAsk } from '../../support/ask/naive-ask.ts'

/** Gives the core an index like `ask.db`, which always holds the whole log. */
export const withAsk =
  (progress?: AskOptions['progress']) =>
  (core: Core): Core => ({
    ...core,
    onFolded: core.onFolded,
    ask: naiveAsk(core.log, { cellarOf: cellarOf(core), ...(progress === undefined ? {} : { progress }) }),
  })

const cellarOf =
  ({ projections }: Core) =>
  (event: RecordedEvent): string | null => {
    if (event.type === 'ReadingAccepted') return event.data.cellar
    const keyId = keyOfEvent(event)
    if (keyId !== null) return projections.keys.get(keyId)?.cellar ?? null
    return projections.cellars.ofStream(event.stream)?.cellar ?? null
  }
