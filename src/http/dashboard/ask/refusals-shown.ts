/** From the index, so they are of every node, and outlast a restart. */
import type { EventRow, RefusalsToday } from '../../../../views/log/log-types.ts'
import { refusalWords } from '../../../../views/log/refusal-words.ts'
import { paths } from '../../../../views/paths.ts'
import { answerOr, isLate } from '../../../actors/ask/answer-of.ts'
import { dayMs, hourMs, instantText } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import { eventRows } from './log-list.ts'
import type { LogListParts } from './log-list-parts.ts'
import { unwrittenRefusals } from './unwritten-refusals.ts'

const refusalRowsMax = 10
const lastRefusalsShownMax = 3

export const refusalsToday = async ({ core, owner, nowMs }: LogListParts, cellar: string): Promise<RefusalsToday> => {
  const midnightMs = nowMs - (nowMs % dayMs)
  const wanted: [string, number, number] = [cellar, midnightMs / hourMs, refusalRowsMax]
  const answered = await core.questions.ask('refusalsOfCellar', wanted, { owner })
  const mostFirst = answerOr(answered, []).toSorted((one, other) => other.count - one.count)
  const counts = mostFirst.map(({ key, code, count }) => ({
    keyId: key,
    label: core.projections.keys.get(key)?.label ?? `clr_${key}_…`,
    code,
    words: refusalWords(code),
    count,
    href: paths.log({ kind: 'refusals', key, from: instantText(midnightMs) }),
  }))
  return { counts, isLate: isLate(answered) }
}

export const lastRefusalsOf = async (
  { core, owner }: Pick<LogListParts, 'core' | 'owner'>,
  filter: LogFilter,
): Promise<readonly EventRow[]> => {
  const page = { direction: 'backwards', from: null, limit: lastRefusalsShownMax } as const
  const also = unwrittenRefusals(core, filter)
  const none = { events: [], before: [] }
  const found = answerOr(await core.questions.ask('findEvents', { filter, page, also }, { owner }), none)
  const { unwritten, events } = eventRows(core, also, found)
  return [...unwritten, ...events].slice(0, lastRefusalsShownMax)
}
