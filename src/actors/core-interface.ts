/**
 * Imports no actor. A command returns a refusal, or `done` when its events are durable. After `not_confirmed`, the events
 * can still be stored. A promise rejects only for a bug, except where a comment says otherwise.
 */
import type { Projections } from '../../projections/queries.ts'
import type { questionKinds } from '../asked/question-kinds.ts'
import type { Clock } from '../clock.ts'
import type { ModelProgress } from '../derived/follower-messages.ts'
import type { Questions } from '../derived/questions/question.ts'
import type { AttentionLine, LineScope } from '../domain/attention/attention-lines.ts'
import type { Delivery, Webhook, WebhookStatus } from '../domain/attention/webhook.ts'
import type { CellarState } from '../domain/cellar.ts'
import type { By, CellarPolicy, EventData, Limit, Role } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import type { Readings } from '../domain/reading/columns.ts'
import type { Idempotency } from '../domain/reading/idempotency-key.ts'
import type { LogItem } from '../domain/reading/recorded-run.ts'
import type { CommandRefusal, Outcome, ReadingRefusal } from '../domain/refusal.ts'
import type { Entropy } from '../entropy.ts'
import type { EventLog } from '../log/event-log.ts'

export type Asker = { readonly by: By; readonly requestId: string }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

export type Cellars = {
  /** A blank `title` becomes the cellar's identifier. */
  create(input: { readonly cellar: string; readonly title: string }, asker: Asker): Answer<CellarState>
  rename(cellar: string, title: string, asker: Asker): Answer<CellarState>
  /** Of all kegs of this name in the cellar. A blank unit removes it. */
  setUnit(cellar: string, unit: { readonly keg: string; readonly unit: string }, asker: Asker): Answer<CellarState>
  changePolicy(cellar: string, changes: Partial<CellarPolicy>, asker: Asker): Answer<CellarState>
}

export type NewKey = {
  readonly cellar: string
  /** A blank label becomes one like "Key 3". */
  readonly label: string
  readonly note: string
  readonly limit: Limit | null
  /** In ms. `null`: the key never expires. */
  readonly expiresAt: number | null
  /** With a given id, sending a form twice makes one key. Default: a random id. */
  readonly keyId?: string
}

export type Rotating = {
  /** In ms, from the first use of the new key: one of `rotationOverlapsMs`. */
  readonly overlapMs: number
  readonly successorId?: string
}

export type CreatedKey = { readonly key: string; readonly state: KeyState }

/**
 * `replaced` is an unused earlier successor, which works until an admin revokes it. `null` also if this node does not know
 * it yet.
 */
type RotatedKey = CreatedKey & { readonly replaced: KeyState | null }

export type Keys = {
  /** The log stores a hash, so only this answer has the text of the key. */
  create(input: NewKey, asker: Asker): Answer<CreatedKey>
  /** Keeps label, note, limit and expiry. The old key works until `overlapMs` after the first use of the new key. */
  rotate(keyId: string, rotating: Rotating, asker: Asker): Answer<RotatedKey>
  /** A missing field keeps its value. */
  relabel(keyId: string, text: { readonly label?: string; readonly note?: string }, asker: Asker): Answer<KeyState>
  setLimit(keyId: string, limit: Limit | null, asker: Asker): Answer<KeyState>
  setExpiry(keyId: string, expiresAt: number | null, asker: Asker): Answer<KeyState>
  suspend(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  resume(keyId: string, reason: string, asker: Asker): Answer<KeyState>
  /** Answers when no node can accept a reading of the key any more. */
  revoke(keyId: string, reason: string, asker: Asker): Answer<KeyState>

  /** All readings or none. The events' ids come from `requestId`, so each request needs a new one. Never rejects. */
  accept(keyId: string, readings: Readings, requestId: string): Promise<Outcome<Accepted, ReadingRefusal>>
  acceptIdempotent(
    keyId: string,
    readings: Readings,
    request: IdempotentRequest,
  ): Promise<Outcome<Accepted, ReadingRefusal>>
  /** Answers as `accept` would answer now. Stores, reserves and records nothing. */
  check(keyId: string, count: number): Promise<Outcome<Checked, ReadingRefusal>>
  /**
   * True if a request with this hash has stored readings, or is under way on this node. False can be wrong, for example
   * while the index is incomplete: then a repeat is refused like a new request.
   */
  knowsIdempotencyKey(keyId: string, keyHash: string): boolean
  /**
   * Returns no promise if the key is loaded. `null`: the key is unknown, or the store is unavailable. `heardTo` is a
   * revision of the readings stream. Other nodes' readings up to it are counted, at most `usageCatchUpMs` late.
   */
  usage(keyId: string, heardTo?: number): Usage | null | Promise<Usage | null>
}

export type IdempotentRequest = {
  readonly requestId: string
  readonly idempotency: Idempotency
  readonly refusal: ReadingRefusal | null
}

export type Accepted = {
  readonly stream: string
  readonly first: number
  readonly last: number
  /** In ms. */
  readonly recordedAt: number
  readonly usage: Usage
  readonly repeats: Idempotency | null
}

/** `usage` does not count the checked readings. */
export type Checked = Pick<Accepted, 'recordedAt' | 'usage'>

export type Usage = {
  readonly limit: Limit
  /** Readings that are stored, or admitted and not stored yet. */
  readonly used: number
  /** Ms until the oldest reading leaves the window. 0 if it is empty. */
  readonly resetMs: number
  /** Ms until there is room for a reading. 0 if there is room now. */
  readonly retryAfterMs: number
}

export type PasswordClient = {
  /** An IPv4 address, or the first 48 bits of an IPv6 address. Networks take turns in the queue of passwords. */
  readonly network: string
  /** The client has an open session, an unspent link or a known browser. Its passwords come before those of strangers. */
  readonly isKnown: boolean
  readonly signal?: AbortSignal
}

export type Session = {
  /** Pages can show it: unlike the secret, it gives no access. */
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly startedAt: number
  readonly expiresAt: number
  /** An e-mail, or `cli`: who made the link that set the password, and can know it. `null` if nobody else did. */
  readonly linkMadeBy: string | null
  /** The revision of `SignInSeen`, which holds the address and browser (`signInPlaces`). `null`: the session is older. */
  readonly seenRevision: number | null
}

export type SignInFrom = {
  readonly client?: PasswordClient
  readonly address: string
  readonly browser: string
  readonly deviceSecret: string | null
  readonly sessionSecret: string | null
}

export type SignedIn = {
  readonly sessionSecret: string
  /** With it, the browser counts as known until the password changes. */
  readonly deviceSecret: string
  readonly session: Session
  /** Another person made a link for this account, and the link was made or used within the last 30 days. */
  readonly isToldOfLink: boolean
}

/** `email` is `null` if no account has it. */
export type RefusedSignIn = {
  readonly email: string | null
  readonly reason: 'failed' | 'throttled'
  readonly address: string
}

/** `id` ends one session. `allBut` ends all sessions but the one with this secret. */
export type EndingSessions = { readonly id: string } | { readonly allBut: string | null }

export type OwnPassword = { readonly password: string; readonly client?: PasswordClient }

export type SignIns = {
  /** Also ends the browser's earlier session. The answer for an unknown e-mail takes as long as for a known one. */
  signIn(
    input: { readonly email: string; readonly password: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  changePassword(
    input: { readonly sessionSecret: string; readonly ownPassword: string; readonly newPassword: string },
    from: SignInFrom,
    requestId: string,
  ): Answer<SignedIn>
  session(sessionSecret: string): Session | null
  /**
   * Also false for an unknown secret: another node can have opened that session a moment ago. The browser must then ask
   * again.
   */
  isSessionOver(sessionSecret: string): boolean
  useSession(sessionSecret: string): void
  signOut(sessionSecret: string, requestId: string): Answer<null>
  isKnownDevice(email: string, deviceSecret: string): boolean
  /** Oldest first. `lastUsedAt` (ms) is the last use on this node. */
  openSessions(email: string): readonly (Session & { readonly lastUsedAt: number | null })[]
  endSessions(email: string, which: EndingSessions, asker: Asker): Answer<null>
  /** Only counts the refusal. The counts are written together later, so that a flood writes few events. */
  signInRefused(refused: RefusedSignIn): void
}

export type Operators = SignIns & {
  /**
   * For the first admin (`email` is `null`), a new operator, or a lost password. If the account exists or existed, an
   * operator must give their own password (`own`), because the link can reset a password.
   */
  issueLink(
    input: { readonly email: string | null; readonly role: Role; readonly own?: OwnPassword },
    asker: Asker,
  ): Answer<{ readonly secret: string; readonly expiresAt: number }>
  /** `null`: the link was used, has expired or is unknown. `isNew`: there is no account yet. */
  link(secret: string): { readonly email: string | null; readonly role: Role; readonly isNew: boolean } | null
  /** Also ends all sessions of the operator. */
  spendLink(
    input: {
      readonly secret: string
      readonly email: string
      readonly password: string
      readonly client?: PasswordClient
    },
    asker: Asker,
  ): Answer<{ readonly email: string }>
  /** Refuses to make the last admin an auditor. */
  setRole(email: string, role: Role, asker: Asker): Answer<{ readonly email: string }>
  /**
   * Removes an account with its sessions and links, or an invitation. Refuses to remove the last admin. Another node
   * accepts the sessions until it receives the event.
   */
  remove(email: string, asker: Asker): Answer<{ readonly email: string }>
}

/** `rest`: until when the line is at rest, and who decided it. `of`: the line, or its rack or cellar. */
export type CurrentLine = {
  /** `null`: the line is of a node. */
  readonly cellar: string | null
  readonly line: AttentionLine
  readonly rest: { readonly untilMs: number; readonly by: By; readonly of: LineScope } | null
}

export type Attention = {
  /** What the last records say, from memory. A service reads them by itself; other processes must `load` them. */
  current(): readonly CurrentLine[]
  /** Further lines, for which the last records have no room. */
  more(): number
  /** @throws Outage */
  load(): Promise<void>
  /** `after`: in ms. `null` removes the rule. `rack` and `keg` are `null` for all racks, and for all kegs. */
  setRule(cellar: string, rule: EventData<'SilenceRuleSet'>, asker: Asker): Answer<CellarState>
  /** Hides a current line until that time (ms). A time in the past ends its rest, and that of its rack or cellar. */
  rest(line: LineScope & { readonly cellar: string | null }, untilMs: number, asker: Asker): Answer<null>
}

/** `kinds` is empty for all kinds. */
export type WebhookInput = {
  /** `null`: a new webhook. */
  readonly webhookId: string | null
  readonly url: string
  readonly kinds: Webhook['kinds']
}

export type Webhooks = {
  /** A service reads them by itself; other processes must `load` them. @throws Outage */
  load(): Promise<void>
  /** In the order in which they were made. */
  list(): readonly Webhook[]
  status(webhookId: string): WebhookStatus
  /** Why this node can make no webhook, as a sentence. `null`: it can. */
  why(): string | null
  /** What the receiver checks signatures with. `why`: this node does not have it. */
  secretOf(webhook: Webhook): { readonly secret: string } | { readonly why: string }
  set(input: WebhookInput, asker: Asker): Answer<Webhook>
  remove(webhookId: string, asker: Asker): Answer<null>
  /** Sends a message now, also during a pause, and answers after the attempt: after up to 30 s. */
  test(webhookId: string, asker: Asker): Answer<Delivery>
  /** Newest first, at most 50, of revisions before `before`. `before` of the answer is `null` at the end. @throws Outage */
  deliveries(
    webhookId: string,
    from: { readonly before: number | null },
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly before: number | null }>
}

export type RefusedRequest = {
  readonly keyId: string | null
  readonly requestId: string
  readonly atMs: number
  readonly code: string
  readonly refusal: ReadingRefusal
  /** `null`: the body was not read. */
  readonly names: { readonly rack: string; readonly keg: string } | null
  readonly count: number
}

export type Refusals = {
  note(refused: RefusedRequest): void
  /** Counts that are not written yet. `keyId` is `null` for refusals that belong to no key. */
  waiting(): readonly { readonly keyId: string | null; readonly data: EventData<'ReadingsRefused'> }[]
}

/** Of this node. Counts begin at its start. */
export type CoreFigures = {
  readonly storedReadings: number
  readonly actors: { readonly key: number; readonly cellar: number; readonly operator: number }
  readonly passwordsWaiting: number
  /** Messages that are not delivered yet, and webhooks to which this node cannot send, or whose last attempt failed. */
  readonly webhooks: { readonly waiting: number; readonly failing: number }
}

export type FoldListener = (items: readonly LogItem[]) => void

export type Core = {
  readonly log: EventLog
  readonly clock: Clock
  readonly entropy: Entropy
  readonly projections: Projections
  readonly cellars: Cellars
  readonly keys: Keys
  readonly operators: Operators
  readonly refusals: Refusals
  readonly attention: Attention
  readonly webhooks: Webhooks
  recordExport(data: EventData<'LogExported'>, asker: Asker): Answer<number>
  figures(): CoreFigures
  /** `null`: this node has no `ask.db`. */
  indexProgress(): ModelProgress | null
  readonly questions: Questions<typeof questionKinds>
  /**
   * `listener` gets the events and runs of all nodes after the projections have folded them. With an `ask.db`, it also gets
   * records. Events of one stream come in order. An event can come twice, which must do no harm. The returned function ends
   * the calls.
   */
  onFolded(listener: FoldListener): () => void
  /** Waits up to `drainMsMax` for requests under way. Does not close the log. */
  drain(): Promise<void>
}
