import type { ExportField } from '../../../../views/types.ts'
import { eventKinds } from '../../../domain/events/declare-event.ts'
import { ExportedListName as ListNames } from '../../../domain/events/log-events.ts'
import { type ExportedListName, type ExportFormat, isEventType } from '../../../domain/events.ts'
import { done } from '../../../domain/refusal.ts'
import { type LogPart, parseActor, wholeLog } from '../../../domain/search/event-filter.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import { invalidField, type Typed, withoutSecrets } from '../../../domain/text.ts'
import type { ExportedList } from '../../../export/exported-list.ts'
import type { FormFields } from '../forms/read-form.ts'
import type { DashboardDeps } from '../visit.ts'

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

type Filled = { readonly form: FormFields; readonly nowMs: number }

export const typedList = ({ core }: DashboardDeps, { form, nowMs }: Filled): Typed<ExportedList> => {
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
        ? done({ list, filter: filter.value, isWithoutReadings: form('readings') === 'no' })
        : invalidField('readings', 'It must be blank or "no".')
    case 'readings':
      return done({ list, filter: filter.value, rack: orNull(form('rack')), keg: orNull(form('keg')) })
    case 'history':
      return key === null
        ? invalidField('key', 'Name the key whose history you want.')
        : done({ list, filter: { ...wholeLog, key, since: filter.value.since, until: filter.value.until } })
  }
}

const orNull = (text: string): string | null => (text === '' ? null : text)

const typedFilter = (core: DashboardDeps['core'], { form, nowMs }: Filled): Typed<LogPart> => {
  const tooLong = fields.find((field) => form(field).length > exportFieldCharsMax)
  if (tooLong !== undefined) return invalidField(tooLong, `It must be at most ${exportFieldCharsMax} characters.`)
  const { keys, cellars } = core.projections
  const key = orNull(
    withoutSecrets(form('key'))
      .trim()
      .replace(/^clr_([0-9A-Za-z]{8})(?:_…?)?$/, '$1'),
  )
  if (key !== null && keys.get(key) === null) return invalidField('key', 'There is no such key. Check the spelling.')
  const cellar = orNull(form('cellar'))
  if (cellar !== null && cellars.get(cellar) === null) return invalidField('cellar', 'There is no such cellar.')
  const [since, until] = [typedInstant('since', { form, nowMs }), typedInstant('until', { form, nowMs })]
  if (!since.ok) return since
  if (!until.ok) return until
  const actor = form('actor').trim() === '' ? done(null) : parseActor(form('actor'))
  if (!actor.ok) return actor
  const kind = eventKinds.find((known) => known === form('kind')) ?? null
  if (kind === null && form('kind') !== '') return invalidField('kind', 'There is no such kind of event.')
  const type = orNull(form('type'))
  if (type !== null && !isEventType(type)) return invalidField('type', 'There is no such type of event.')
  const stream = orNull(form('stream'))
  const [sinceMs, untilMs] = [since.value, until.value]
  return done({ ...wholeLog, stream, type, kind, actor: actor.value, cellar, key, since: sinceMs, until: untilMs })
}

const typedInstant = (field: 'since' | 'until', { form, nowMs }: Filled): Typed<number | null> => {
  if (form(field).trim() === '') return done(null)
  const instant = parseInstantNear(form(field), nowMs)
  return instant.ok ? instant : invalidField(field, instant.refusal.rule)
}
