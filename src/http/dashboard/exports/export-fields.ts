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
      return form('readings') === '' || form('readings') === 'no'
        ? done({
            list,
            filter: await withKeysOfRack({ core, owner: session.email }, filter.value),
            isWithoutReadings: form('readings') === 'no',
          })
        : invalidField('readings', 'It must be blank or "no".')
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
