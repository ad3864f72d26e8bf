import type { ListExport } from '../../../../views/log/log-types.ts'
import { wantsReadings } from '../../../actors/search/list-events.ts'
import { instantText } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'
import { showsMinutes } from '../ask/minute-rows.ts'

/**
 * Rows of minutes stand for readings, so the export has these. A list of a key or a person shows no readings until somebody
 * chooses them.
 */
export const exportOfList = (filter: LogFilter): ListExport => {
  const { kind, type, actor, cellar, rack, key, since, until } = filter
  const isOfReadings = kind === 'readings' || type === 'ReadingAccepted'
  const fields = {
    kind,
    type,
    actor,
    cellar,
    rack: rack?.name ?? null,
    key,
    since: since === null ? null : instantText(since),
    until: until === null ? null : instantText(until),
    readings: wantsReadings(filter) || showsMinutes(filter) || kind !== null || type !== null ? null : 'no',
  }
  const set = Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return { list: isOfReadings ? 'readings' : 'events', filter: Object.fromEntries(set) }
}
