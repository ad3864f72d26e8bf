import { ExportPage } from '../../../../views/exports/export-form.tsx'
import type { ExportField } from '../../../../views/types.ts'
import { instantText } from '../../../domain/calendar.ts'
import type { ExportFormat } from '../../../domain/events.ts'
import { assertNever, type CommandRefusal } from '../../../domain/refusal.ts'
import type { ExportedList } from '../../../export/exported-list.ts'
import { RunningExport } from '../../../export/running-export.ts'
import { exportValues, listNamed, typedFormat, typedList } from '../exports/export-fields.ts'
import { type Faults, problemPage, refusedPage, toCellars } from '../page-answers.tsx'
import { askerOf, type DashboardDeps, type SignedInVisit } from '../visit.ts'

/** A POST: each export writes events, and no link of another site may start one. */
export const exportList = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { core } = deps
  const list = await typedList(deps, visit)
  if (!list.ok) return refused(visit, list.refusal)
  const format = typedFormat(visit.form)
  const { session, request, origin } = visit
  const isAllowed = (): boolean => core.operators.session(session.secret) !== null
  const order = { core, list: list.value, format, asker: askerOf(visit), address: origin.clientAddress }
  const opened = await deps.downloads.open({ email: session.email, role: session.role, request, isAllowed }, () =>
    RunningExport.begin(order),
  )
  switch (opened.kind) {
    case 'opened':
      return new Response(opened.body, { headers: downloadHeaders(list.value, format, visit.nowMs) })
    case 'refused':
      return refused(visit, opened.refusal)
    case 'one_is_running':
      return problemPage(visit, { problem: 'export_running', status: 409 })
    case 'too_often':
      return exportedTooOften(visit, opened.waitMs)
    case 'too_many':
    case 'closed':
      return problemPage(visit, { problem: 'too_many_exports', status: 503 })
    default:
      return assertNever(opened)
  }
}

const exportedTooOften = async (visit: SignedInVisit, waitMs: number): Promise<Response> => {
  const answer = await problemPage(visit, { problem: 'exported_too_often', status: 429 })
  answer.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)))
  return answer
}

const contentTypes: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

const downloadHeaders = ({ list }: ExportedList, format: ExportFormat, nowMs: number): Record<string, string> => ({
  'Content-Type': contentTypes[format],
  'Content-Disposition': `attachment; filename="cellarbook-${list}-${instantText(nowMs).replaceAll(/[-:]|\.\d+/g, '')}.${format}"`,
})

const refused = (visit: SignedInVisit, refusal: CommandRefusal): Promise<Response> =>
  refusedPage(visit, refusal, { back: toCellars, again: (faults) => formAgain(visit, faults) })

const formAgain = (visit: SignedInVisit, faults: Faults): JSX.Element => {
  const values = exportValues(visit.form)
  const shown = (Object.keys(values) as ExportField[]).filter(
    (field) => field === 'since' || field === 'until' || Object.hasOwn(faults, field),
  )
  const filter = Object.fromEntries(
    Object.entries(values).filter(([field, value]) => value !== '' && !shown.some((name) => name === field)),
  )
  const list = listNamed(visit.form('list'))
  return (
    <ExportPage
      shell={visit.shell}
      lists={list === null ? ['events', 'readings', 'keys'] : [list]}
      filter={filter}
      fields={shown}
      format={typedFormat(visit.form)}
      form={{ values, faults }}
    />
  )
}
