import { answerOf } from '../../actors/ask/answer-of.ts'
import type { Asker, Core } from '../../actors/core-interface.ts'
import { assertNever } from '../../domain/refusal.ts'
import type { ExportedList } from '../../export/exported-list.ts'
import { cutOffWords, RunningExport } from '../../export/running-export.ts'
import { DamagedLog, Outage } from '../../log/event-log.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { cutOffEnd, done, refusedEnd } from './ends.ts'
import type { ExportOperation } from './export-operation.ts'

export type ExportParts = {
  readonly core: Core
  readonly asker: Asker
  readonly signal: AbortSignal
}

export async function* exportLog(parts: ExportParts, operation: ExportOperation): AsyncGenerator<Line, End> {
  const { core, asker, signal } = parts
  const { cellar, key } = operation.filter
  if (cellar !== null && core.projections.cellars.get(cellar) === null) return refusedEnd({ kind: 'cellar_not_found' })
  if (key !== null && core.projections.keys.get(key) === null) return refusedEnd({ kind: 'key_not_found' })
  const { after, format } = operation
  if (after !== null && !(await isInLog(core, after))) return otherLog
  const order = { core, list: listOf(operation), format, isResumed: after !== null, asker, address: null }
  const begun = await RunningExport.begin(order)
  if (!begun.ok) return refusedEnd(begun.refusal)
  const running = begun.value
  // When the client leaves, nobody asks for the next line, so the rest and `finally` do not run.
  const leave = (): void => void running.cutOff(String(signal.reason))
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    yield* linesOf(running)
  } catch (error) {
    if (!(error instanceof Outage) || error instanceof DamagedLog) throw error
  } finally {
    signal.removeEventListener('abort', leave)
    await running.cutOff(cutOffWords.clientLeft)
  }
  return running.cutOffWhy === null ? done : cutOffEnd(running.cutOffWhy, running.rows)
}

async function* linesOf(running: RunningExport): AsyncGenerator<Line, void> {
  while (true) {
    const page = await running.next()
    if (page === null) return
    yield { kind: 'exported', value: { text: page.text, rows: running.rows, share: page.share } }
  }
}

/** Positions of another log, such as a copy, mean other events. */
const isInLog = async (core: Core, after: NonNullable<ExportOperation['after']>): Promise<boolean> => {
  const { stream, revision, position } = after
  const place = { stream, revision, position: Number(position) }
  const [event] = answerOf(await core.questions.ask('eventsAt', [place], { owner: 'cli', isAtOnce: true }))
  return event?.id === after.id
}

const otherLog: End = {
  exitCode: exitCodes.refused,
  message:
    'Cannot resume: the last event of the file is not in this log. It was deleted by a retention, or the file comes from another log. Export into a new file',
}

const listOf = ({ list, filter, after, rack, keg }: ExportOperation): ExportedList => {
  const from = after === null ? filter.from : Math.max(Number(after.position), filter.from ?? 0)
  switch (list) {
    case 'events':
      return { list, filter: { ...filter, from } }
    case 'readings':
      return { list, filter: { ...filter, from }, rack, keg }
    case 'keys':
      return { list, cellar: filter.cellar }
    default:
      return assertNever(list)
  }
}
