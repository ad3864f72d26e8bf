/** Starts a service on a damaged copy of a folder, and judges what it says. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../../src/cli/exit-codes.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { checkLogFile } from '../../../src/log/verify/check-log-file.ts'
import { damageText } from '../../../src/log/verify/damage-kinds.ts'
import { asCommandFailed } from '../../../src/open-log.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import type { MadeFolders } from './made-folders.ts'
import { type OpenedNode, openNode } from './opened-node.ts'
import { type Answers, askOverHttp, askProjections, eventsIn, readEverything } from './questions.ts'

/** The events of a folder. `last` is the position of the last one: the questions store more events behind it. */
export type Known = { readonly events: readonly RecordedEvent[]; readonly last: number }

/** What one start said. */
export type Heard = {
  /** Why the service did not start. */
  readonly refusal: string | null
  readonly warnings: readonly string[]
  readonly bugs: readonly string[]
  /** The troubles that the service told before everything was read. */
  readonly troubles: readonly string[]
  readonly served: Answers
  readonly read: Answers
  /** The damage that the background check told after all answers, or `null`. */
  readonly checked: string | null
}

export type Verdict = {
  /**
   * - `right`: no answer differs from the truth.
   * - `told`: the damage was told, and no answer differed.
   * - `partly told`: the service itself told the damage, but another answer differed.
   * - `checked`: an answer differed, and the background check told the damage. Or it told damage that changed no answer.
   * - `late`: an answer differed, and only a reader of the whole log is told the damage.
   * - `silent`: an answer differed, and nothing told the damage.
   * - `bug`: the damage was taken for a bug of the program.
   * - `vague`: the damage was told, but not where.
   */
  readonly kind: 'right' | 'told' | 'partly told' | 'checked' | 'late' | 'silent' | 'bug' | 'vague'
  readonly words: readonly string[]
}

const nothing = { served: new Map(), read: new Map(), troubles: [], checked: null } as const

export const hear = async (dataDir: string, made: MadeFolders, known: Known): Promise<Heard> => {
  let node: OpenedNode
  try {
    node = await openNode({ dataDir, clock: manualClock(made.endMs), seed: 103 })
  } catch (cause) {
    const failed = asCommandFailed(cause)
    if (failed instanceof CommandFailed) return { ...nothing, refusal: failed.message, warnings: [], bugs: [] }
    const bug = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    return { ...nothing, refusal: null, warnings: [], bugs: [bug] }
  }
  try {
    const { service, log, warnings, bugs } = node
    const projections = askProjections(node, known.events, made.endMs)
    const answers = await askOverHttp(service.url, made, { times: true })
    const troubles = service.reasons().map(({ what, why }) => `${what} ${why}`)
    const lines = service.lines.filter(({ level }) => level === 'error' || level === 'warn')
    const read = await readEverything(log, made.streams, known.last)
    const { checked, faults } = checkInBackground(dataDir)
    return {
      refusal: null,
      warnings: [...warnings],
      bugs: [...bugs, ...faults].map(String),
      troubles: [...troubles, ...lines.map((line) => JSON.stringify(line))],
      served: new Map([...projections, ...answers]),
      read,
      checked,
    }
  } finally {
    await node.close()
  }
}

/** Does what the thread of the background check does, without its pauses. While the log is open, the check must not fail. */
const checkInBackground = (dataDir: string) => {
  try {
    const steps = checkLogFile({ path: join(dataDir, 'log.db'), codec: null, checksPages: false })
    let step = steps.next()
    while (!step.done) step = steps.next()
    const { first } = step.value
    return { checked: first === null ? null : `log.db: ${damageText(first)}`, faults: [] }
  } catch (cause) {
    return { checked: null, faults: [cause] }
  }
}

export const eventsOf = async (dataDir: string, made: MadeFolders): Promise<Known> => {
  const node = await openNode({ dataDir, clock: manualClock(made.endMs), seed: 103 })
  const events = await eventsIn(node.log, Number.MAX_SAFE_INTEGER)
  await node.close()
  return { events, last: events.at(-1)?.position ?? 0 }
}

const where = /log\.db|log\.witness|idempotency|(ask|readings)\.db|"[a-z]+-[^"]*"|revision \d+ of |positions? /

export const judge = (heard: Heard, truth: Answers): Verdict => {
  const { refusal, warnings, bugs, troubles, served, read, checked } = heard
  if (bugs.length > 0) return { kind: 'bug', words: bugs }
  if (refusal !== null) return { kind: where.test(refusal) ? 'told' : 'vague', words: [refusal] }
  const all = new Map([...served, ...read])
  const bug = [...all].flatMap(([question, answer]) => ('bug' in answer ? [`${question}: ${answer.bug}`] : []))
  if (bug.length > 0) return { kind: 'bug', words: bug }
  const wrong = [...all].flatMap(([question, answer]) => differenceOf(question, answer, truth))
  const refusedBy = (answers: Answers): readonly string[] =>
    [...answers].flatMap(([question, answer]) => ('refused' in answer ? [`${question}: ${answer.refused}`] : []))
  const told = [...refusedBy(served), ...troubles]
  const whole = refusedBy(read)
  if (told.length > 0) {
    const isExact = [...told, ...whole].some((words) => where.test(words))
    const kind = wrong.length === 0 ? 'told' : 'partly told'
    return { kind: isExact ? kind : 'vague', words: [...wrong, ...told, ...whole] }
  }
  if (wrong.length === 0 && whole.length > 0) return { kind: 'told', words: [...whole, ...warnings] }
  if (checked !== null) return { kind: where.test(checked) ? 'checked' : 'vague', words: [...wrong, checked] }
  if (wrong.length === 0) return { kind: 'right', words: warnings }
  return { kind: whole.length > 0 ? 'late' : 'silent', words: [...wrong, ...whole, ...warnings] }
}

const differenceOf = (question: string, answer: { said: string } | object, truth: Answers): readonly string[] => {
  if (!('said' in answer)) return []
  const expected = truth.get(question)
  const wanted = expected !== undefined && 'said' in expected ? expected.said : 'nothing'
  if (answer.said === wanted) return []
  const at = [...wanted].findIndex((character, index) => character !== answer.said[index])
  const from = Math.max(0, (at < 0 ? wanted.length : at) - 60)
  const part = (text: string): string => text.slice(from, from + 160)
  return [`${question}: …${part(answer.said)}… and not …${part(wanted)}…`]
}

export const removeFolder = (dataDir: string): void => rmSync(dataDir, { recursive: true, force: true })
