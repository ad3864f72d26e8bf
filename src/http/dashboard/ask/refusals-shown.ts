/** Refusals for the pages of cellars and keys. They come from the index, so they are of every node, and outlast a restart. */
import type { EventRow, RefusalCount } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { paths } from '../../../../views/paths.ts'
import type { Core } from '../../../actors/core.ts'
import { readsOfKnown, statesBefore } from '../../../actors/search/event-context.ts'
import { dayMs, hourMs, instantText } from '../../../domain/calendar.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { anyEvent } from '../../../domain/search/event-filter.ts'
import { unknownBefore } from '../../../domain/search/state-before.ts'
import { keyStream } from '../../../domain/stream-names.ts'
import { lastRefusalsShownMax, refusalRowsMax } from '../../../limits.ts'
import { ifUsable } from './if-usable.ts'
import { eventRow } from './log-list.ts'
import { unwrittenRefusals } from './unwritten-refusals.ts'

/** Returns the refusals since midnight (UTC), the most frequent first. */
export const refusalsToday = (
  { ask, projections }: Core,
  cellar: string,
  nowMs: number,
): Promise<readonly RefusalCount[]> =>
  ifUsable<readonly RefusalCount[]>(ask, [], async (index) => {
    const midnightMs = nowMs - (nowMs % dayMs)
    await index.upTo()
    const sums = await index.refusalsOfCellar(cellar, midnightMs / hourMs, refusalRowsMax)
    const mostFirst = sums.toSorted((one, other) => other.count - one.count)
    return mostFirst.map(({ key, code, count }) => ({
      keyId: key,
      label: projections.keys.get(key)?.label ?? `clr_${key}_…`,
      code,
      words: refusalWords(code),
      count,
      href: paths.log({ kind: 'refusals', key, from: instantText(midnightMs) }),
    }))
  })

/** Returns the last summaries of what was refused of the key, newest first. `known` are the events of the key's stream. */
export const lastRefusalsOf = (
  core: Core,
  keyId: string,
  known: readonly RecordedEvent[],
): Promise<readonly EventRow[]> =>
  ifUsable<readonly EventRow[]>(core.ask, [], async (ask) => {
    await ask.upTo()
    const page = { direction: 'backwards', from: null, limit: lastRefusalsShownMax } as const
    const filter = { ...anyEvent, kind: 'refusals', key: keyId } as const
    const { places } = await ask.find(filter, page)
    const written = await ask.eventsAt(places)
    const events = [...unwrittenRefusals(core, filter), ...written].slice(0, lastRefusalsShownMax)
    const states = await statesBefore(readsOfKnown(core.log, keyStream(keyId), known), events)
    return events.map((event, index) => eventRow(core, event, states[index] ?? unknownBefore))
  })
