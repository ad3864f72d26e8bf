import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Invitation } from '../../../projections/operator-directory.ts'
import type { Asker, Core, CurrentLine } from '../../actors/core-interface.ts'
import { findKeys, type KeysWanted } from '../../actors/search/find-keys.ts'
import { durationTyped, retentionWithin } from '../../domain/amounts.ts'
import type { CellarState } from '../../domain/cellar.ts'
import { purgeBefore } from '../../domain/cellar.ts'
import { CellarPolicy } from '../../domain/events/cellar-events.ts'
import { Limit } from '../../domain/events/declare-event.ts'
import { Role } from '../../domain/events/operator-events.ts'
import { done as accepted, assertNever, type CommandRefusal, type Outcome } from '../../domain/refusal.ts'
import { KeyFilter, keySorts } from '../../domain/search/key-filter.ts'
import { parseEmail } from '../../domain/text.ts'
import { keyView } from '../../export/key-view.ts'
import { DamagedLog, Outage, UndecodableEvent } from '../../log/event-log.ts'
import { nextTurn } from '../../log/pages-of-log.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import { type AttentionView, type CellarView, isoOf, type Line } from '../show/lines.ts'
import { ChangeKeysOperation, changeKeysAsked } from './change-keys-operation.ts'
import { done, mayLackKeys, refusedEnd } from './ends.ts'
import { exportLog } from './export-log.ts'
import { ExportOperation, filterFields } from './export-operation.ts'
import { findInLog } from './find-in-log.ts'
import { keyHistory } from './history-of-key.ts'
import { readLogLines } from './read-log.ts'
import { WebhookOperation, webhookAnswer } from './webhook-operations.ts'

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const text = Type.String()
const ms = Type.Integer({ minimum: 0 })
/** Ms since 1970, negative before. */
const instant = Type.Integer()

export const Operation = Type.Union([
  Type.Object({ op: Type.Literal('create_cellar'), cellar: text, title: text }),
  Type.Object({ op: Type.Literal('list_cellars') }),
  Type.Object({ op: Type.Literal('rename_cellar'), cellar: text, title: text }),
  Type.Object({ op: Type.Literal('cellar_unit'), cellar: text, keg: text, unit: text }),
  Type.Object({
    op: Type.Literal('cellar_silence'),
    cellar: text,
    rack: orNull(text),
    keg: orNull(text),
    after: Type.Union([ms, Type.Literal('never'), Type.Null()]),
  }),
  Type.Object({ op: Type.Literal('list_attention') }),
  Type.Object({
    op: Type.Literal('cellar_policy'),
    cellar: text,
    changes: Type.Partial(CellarPolicy),
    /** The person accepts that readings are deleted (`--yes`). */
    isConfirmed: Type.Boolean(),
  }),
  Type.Object({
    op: Type.Literal('create_key'),
    cellar: text,
    label: text,
    note: text,
    limit: orNull(Limit),
    expiresAt: orNull(ms),
  }),
  Type.Object({
    op: Type.Literal('list_keys'),
    filter: KeyFilter,
    sort: Type.Union(keySorts.map((sort) => Type.Literal(sort))),
    isReversed: Type.Boolean(),
  }),
  ChangeKeysOperation,
  Type.Object({ op: Type.Literal('key_history'), keyId: text, at: orNull(instant) }),
  Type.Object({ op: Type.Literal('issue_link'), email: orNull(text), role: orNull(Role) }),
  Type.Object({ op: Type.Literal('list_operators') }),
  Type.Object({ op: Type.Literal('set_operator_role'), email: text, role: Role }),
  Type.Object({ op: Type.Literal('remove_operator'), email: text, isConfirmed: Type.Boolean() }),
  Type.Object({
    op: Type.Literal('read_log'),
    ...filterFields,
    follow: Type.Boolean(),
  }),
  Type.Object({ op: Type.Literal('find_in_log'), what: text }),
  ExportOperation,
  WebhookOperation,
])
export type Operation = Static<typeof Operation>

export type OperationContext = {
  readonly questions: Core['questions']
  /** Without a running service, this can mean reading the whole log. */
  core(): Promise<Core>
  linkUrl(secret: string): string
  /** No other process can append to the log meanwhile. */
  readonly isAlone?: boolean
}

/** `signal` ends a command that would go on for ever. Throws only for a bug. */
export async function* perform(
  operation: Operation,
  context: OperationContext,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Line, End> {
  try {
    return yield* answer(operation, context, signal)
  } catch (error) {
    if (error instanceof DamagedLog) return { exitCode: exitCodes.configuration, message: error.message }
    if (error instanceof Outage) return { exitCode: exitCodes.unreachable, message: error.message }
    if (error instanceof UndecodableEvent) return { exitCode: exitCodes.refused, message: error.message }
    throw error
  }
}

async function* answer(
  operation: Operation,
  context: OperationContext,
  signal: AbortSignal,
): AsyncGenerator<Line, End> {
  if (operation.op === 'read_log') return yield* readLogLines({ ...context, signal }, operation)
  if (operation.op === 'find_in_log')
    return yield* findInLog(operation.what, { questions: context.questions, keyLine: keyLineIn(context), signal })
  const core = await context.core()
  const asker: Asker = { by: { kind: 'cli' }, requestId: core.entropy.requestId(core.clock.now()) }
  switch (operation.op) {
    case 'create_cellar': {
      const outcome = await core.cellars.create({ cellar: operation.cellar, title: operation.title }, asker)
      return yield* oneCellar(core, outcome)
    }
    case 'list_cellars':
      for (const cellar of core.projections.cellars.list()) yield { kind: 'cellar', value: cellarView(core, cellar) }
      return done
    case 'rename_cellar':
      return yield* oneCellar(core, await core.cellars.rename(operation.cellar, operation.title, asker))
    case 'cellar_unit':
      return yield* oneCellar(core, await core.cellars.setUnit(operation.cellar, operation, asker))
    case 'cellar_silence': {
      const { rack, keg, after } = operation
      return yield* oneCellar(core, await core.attention.setRule(operation.cellar, { rack, keg, after }, asker))
    }
    case 'list_attention':
      await core.attention.load()
      for (const current of core.attention.current()) yield { kind: 'attention', value: attentionView(current) }
      return { ...done, message: notListed(core.attention.more()) }
    case 'cellar_policy':
      return yield* cellarPolicy(core, operation, asker)
    case 'create_key': {
      const outcome = await core.keys.create(operation, asker)
      return yield* one(outcome, ({ key, state }) => ({ kind: 'key', value: keyView(core, state, key) }))
    }
    case 'list_keys':
      return yield* listKeys(core, operation)
    case 'change_keys':
      return yield* changeKeysAsked(core, operation, { asker, signal })
    case 'key_history':
      if (core.projections.keys.get(operation.keyId) === null) return refusedEnd({ kind: 'key_not_found' })
      return yield* keyHistory(core, operation.keyId, operation.at)
    case 'export_log':
      return yield* exportLog({ core, asker, signal }, operation)
    case 'issue_link':
      return yield* issueLink(core, operation, context, asker)
    case 'list_operators':
      for (const { email } of core.projections.operators.list()) yield operatorLine(core, email)
      for (const one of core.projections.operators.invitations(core.clock.now())) yield invitationLine(one)
      return done
    case 'set_operator_role':
      return yield* setRole(core, operation, asker)
    case 'remove_operator':
      return yield* removeOperator(core, operation, asker)
    case 'list_webhooks':
    case 'set_webhook':
    case 'remove_webhook':
    case 'test_webhook':
    case 'webhook_secret':
      return yield* webhookAnswer(core, operation, asker)
    default:
      return assertNever(operation)
  }
}

const notListed = (more: number): string | null => {
  if (more === 0) return null
  return more === 1 ? '1 further line is not listed.' : `${more} further lines are not listed.`
}

/** A shorter retention deletes readings, so the admin must confirm it. */
async function* cellarPolicy(
  core: Core,
  asked: { readonly cellar: string; readonly changes: Partial<CellarPolicy>; readonly isConfirmed: boolean },
  asker: Asker,
): AsyncGenerator<Line, End> {
  const { cellar: name, changes, isConfirmed } = asked
  const cellar = core.projections.cellars.get(name)
  if (cellar === null) return refusedEnd({ kind: 'cellar_not_found' })
  if (Object.keys(changes).length === 0) return yield* oneCellar(core, accepted(cellar))
  const warning = isConfirmed ? null : retentionWarning(cellar, changes.retentionMs ?? null, core.clock.now())
  if (warning !== null) return { exitCode: exitCodes.refused, message: warning }
  return yield* oneCellar(core, await core.cellars.changePolicy(name, changes, asker))
}

/** `null`: no more readings are deleted than now. Also for an invalid retention, which `changePolicy` refuses. */
const retentionWarning = ({ policy }: CellarState, retentionMs: number | null, nowMs: number): string | null => {
  if (retentionMs === null || !retentionWithin(retentionMs).ok) return null
  const before = policy.retentionMs
  if (before !== null && retentionMs >= before) return null
  const kept = before === null ? 'for ever' : `for ${durationTyped(before)}`
  const first = isoOf(purgeBefore(nowMs, retentionMs))
  return `Nothing was changed. Readings are kept ${kept} now. With a retention of ${durationTyped(retentionMs)}, readings of this cellar accepted before ${first} are deleted at once. After that, one more day of readings is deleted every day. The last reading of each key is kept. This cannot be undone. To confirm, add --yes.`
}

async function* listKeys(core: Core, wanted: KeysWanted): AsyncGenerator<Line, End> {
  const { cellar } = wanted.filter
  if (cellar !== null && core.projections.cellars.get(cellar) === null) return refusedEnd({ kind: 'cellar_not_found' })
  const { keys, mayLack } = await findKeys(core, wanted, { owner: 'cli', pause: nextTurn })
  for (const key of keys) yield { kind: 'key', value: keyView(core, key) }
  return mayLack ? mayLackKeys : done
}

/**
 * By default, the first operator becomes an admin, and a later one an auditor. While there is no operator, the person who
 * opens the link chooses an e-mail.
 */
async function* issueLink(
  core: Core,
  asked: { readonly email: string | null; readonly role: Role | null },
  context: OperationContext,
  asker: Asker,
): AsyncGenerator<Line, End> {
  const known = asked.email === null ? null : core.projections.operators.get(asked.email)
  const isFirst = core.projections.operators.list().length === 0
  if (asked.email === null && !isFirst) return refusedEnd({ kind: 'link_needs_email' })
  const role = asked.role ?? known?.role ?? (isFirst ? 'admin' : 'auditor')
  if (known !== null && known.role !== role) return refusedEnd({ kind: 'link_keeps_role', role: known.role })
  const outcome = await core.operators.issueLink({ email: asked.email, role }, asker)
  return yield* one(outcome, ({ secret, expiresAt }) => ({
    kind: 'link',
    value: { url: context.linkUrl(secret), email: asked.email, role, expiresAt: isoOf(expiresAt) },
  }))
}

async function* setRole(
  core: Core,
  { email, role }: { readonly email: string; readonly role: Role },
  asker: Asker,
): AsyncGenerator<Line, End> {
  const outcome = await core.operators.setRole(email, role, asker)
  if (outcome.ok || outcome.refusal.kind !== 'operator_not_found') return yield* oneOperator(core, outcome)
  const typed = parseEmail(email)
  const invited = core.projections.operators
    .invitations(core.clock.now())
    .find((invitation) => typed.ok && invitation.email === typed.value)
  if (invited === undefined) return refusedEnd(outcome.refusal)
  return refusedEnd({ kind: 'operator_is_invited', role: invited.role })
}

async function* removeOperator(
  core: Core,
  { email, isConfirmed }: { readonly email: string; readonly isConfirmed: boolean },
  asker: Asker,
): AsyncGenerator<Line, End> {
  const warning = isConfirmed ? null : removalWarning(core, email)
  if (warning !== null) return { exitCode: exitCodes.refused, message: warning }
  return yield* oneOperator(core, await core.operators.remove(email, asker))
}

/** `null`: nobody can lose access. An invitation can be made again. */
const removalWarning = ({ projections, operators }: Core, typed: string): string | null => {
  const email = parseEmail(typed)
  const account = email.ok ? projections.operators.get(email.value) : null
  if (account === null) return null
  const sessions = operators.openSessions(account.email).length
  return `Nothing was changed. ${account.email} is an ${account.role} with ${sessions} open ${sessions === 1 ? 'session' : 'sessions'}. Removing this operator ends all sessions and one-time links, on every node within a second. Past actions stay in the log. To confirm, add --yes.`
}

async function* one<T>(outcome: Outcome<T, CommandRefusal>, line: (value: T) => Line): AsyncGenerator<Line, End> {
  if (!outcome.ok) return refusedEnd(outcome.refusal)
  yield line(outcome.value)
  return done
}

const oneCellar = (core: Core, outcome: Outcome<CellarState, CommandRefusal>): AsyncGenerator<Line, End> =>
  one(outcome, (cellar) => ({ kind: 'cellar', value: cellarView(core, cellar) }))

const oneOperator = (
  core: Core,
  outcome: Outcome<{ readonly email: string }, CommandRefusal>,
): AsyncGenerator<Line, End> => one(outcome, ({ email }) => operatorLine(core, email))

const operatorLine = (core: Core, email: string): Line => {
  const account = core.projections.operators.get(email)
  const addedAt = account === null ? null : isoOf(account.addedAt)
  return { kind: 'operator', value: { email, role: account?.role ?? null, addedAt } }
}

const invitationLine = ({ email, role, expiresAt }: Invitation): Line => {
  const invitation = { role, expiresAt: isoOf(expiresAt) }
  return { kind: 'operator', value: { email, role: null, addedAt: null, invitation } }
}

const cellarView = (core: Core, cellar: CellarState): CellarView => ({
  cellar: cellar.cellar,
  title: cellar.title,
  keys: core.projections.keys.ofCellar(cellar.cellar).length,
  createdAt: isoOf(cellar.createdAt),
  policy: cellar.policy,
  units: Object.fromEntries(cellar.units),
  silence: cellar.silence.map(({ rack, keg, after }) => ({ rack, keg, after })),
})

const attentionView = ({ cellar, line, rest }: CurrentLine): AttentionView => ({
  since: isoOf(line.sinceMs),
  what: line.kind,
  cellar,
  rack: line.rack ?? null,
  keg: line.keg ?? null,
  key: line.keyId ?? null,
  node: line.node ?? null,
  count: line.count ?? null,
  due: line.dueMs === undefined ? null : isoOf(line.dueMs),
  restsUntil: rest === null ? null : isoOf(rest.untilMs),
})

const keyLineIn =
  ({ core }: OperationContext) =>
  async (keyId: string): Promise<Line | null> => {
    const opened = await core()
    const state = opened.projections.keys.get(keyId)
    return state === null ? null : { kind: 'key', value: keyView(opened, state) }
  }
