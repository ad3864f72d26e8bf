import { rackKeysMax } from '../../../../views/log/log-types.ts'
import type { ExportField } from '../../../../views/types.ts'
import { ExportedListName as ListNames } from '../../../domain/events/log-events.ts'
import type { ExportedListName, ExportFormat } from '../../../domain/events.ts'
import { done } from '../../../domain/refusal.ts'
import { type LogPart, wholeLog } from '../../../domain/search/event-filter.ts'
import { invalidField, type Typed, withoutSecrets } from '../../../domain/text.ts'
import type { ExportedList } from '../../../export/exported-list.ts'
import { withKeysOfRack } from '../ask/keys-that-sent.ts'
import { judgeQuery, logQueryOf } from '../ask/read-log-query.ts'
import type { FormFields } from '../forms/read-form.ts'
import type { DashboardDeps, SignedInVisit } from '../visit.ts'

/** The record of the export keeps the filter for ever, and no name or e-mail is longer. */
export const exportFieldCharsMax = 300

const fields: readonly ExportField[] = [
  'since',
  'until',
  'rack',
  'keg',
  'key',
  'cellar',
  'stream',
  'type',
  'kind',
  'actor',
  'readings',
]

/** As typed, so that the form can show them again after a refusal. */
export const exportValues = (form: FormFields) =>
  Object.fromEntries(fields.map((field) => [field, form(field)])) as Record<ExportField, string>

export const typedFormat = (form: FormFields): ExportFormat => (form('format') === 'csv' ? 'csv' : 'ndjson')

export const listNamed = (name: string): ExportedListName | null =>
  ListNames.anyOf.map((literal) => literal.const).find((known) => known === name) ?? null

type Filled = Pick<SignedInVisit, 'form' | 'nowMs' | 'session'>

export const typedList = async (
  { core }: DashboardDeps,
  { form, nowMs, session }: Filled,
): Promise<Typed<ExportedList>> => {
  const list = listNamed(form('list'))
  if (list === null) return invalidField('form', 'Choose what to export.')
  const filter = typedFilter(core, { form, nowMs })
  if (!filter.ok) return filter
  const { key, cellar } = filter.value
  switch (list) {
    case 'keys':
      return done({ list, cellar })
    case 'events':
      return typedEvents({ core, owner: session.email }, { filter: filter.value, readings: form('readings') })
    case 'readings':
      // The whole log is searched, so no reading of another key is missing.
      return done({
        list,
        filter: filter.value,
        rack: orNull(form('rack')),
        keg: orNull(form('keg')),
      })
    case 'history':
      return key === null
        ? invalidField('key', 'Name the key whose history you want.')
        : done({ list, filter: { ...wholeLog, key, since: filter.value.since, until: filter.value.until } })
  }
}

type TypedEvents = { readonly filter: LogPart; readonly readings: string }

/** A list shows the last keys of a rack. An export must lack none. */
const typedEvents = async (
  asker: Parameters<typeof withKeysOfRack>[0],
  { filter, readings }: TypedEvents,
): Promise<Typed<ExportedList>> => {
  if (readings !== '' && readings !== 'no') return invalidField('readings', 'It must be blank or "no".')
  const complete = await withKeysOfRack(asker, filter, rackKeysMax + 1)
  const keys = complete.rack === undefined ? [] : complete.rack.keys
  if (keys === null)
    return invalidField('rack', 'This node cannot say now which keys sent for this rack. Try again in a minute.')
  if (keys.length > rackKeysMax)
    return invalidField('rack', `More than ${rackKeysMax} keys sent for this rack. Export the events of each key.`)
  return done({ list: 'events', filter: complete, isWithoutReadings: readings === 'no' })
}

const orNull = (text: string): string | null => (text === '' ? null : text)

const typedFilter = (core: DashboardDeps['core'], { form, nowMs }: Omit<Filled, 'session'>): Typed<LogPart> => {
  const tooLong = fields.find((field) => form(field).length > exportFieldCharsMax)
  if (tooLong !== undefined) return invalidField(tooLong, `It must be at most ${exportFieldCharsMax} characters.`)
  const query = logQueryOf(
    new URLSearchParams({
      kind: form('kind'),
      type: form('type'),
      actor: form('actor'),
      cellar: form('cellar'),
      rack: form('list') === 'events' ? form('rack') : '',
      key: withoutSecrets(form('key')),
      from: form('since'),
      to: form('until'),
    }),
  )
  const { filter, faults } = judgeQuery(query, { core, nowMs })
  const [fault] = Object.entries(faults)
  if (fault === undefined) return done({ ...wholeLog, ...filter, stream: orNull(form('stream')) })
  const [field, rule] = fault
  return invalidField(field === 'from' ? 'since' : field === 'to' ? 'until' : field, rule)
}
