/**
 * The domain: pure rules, nothing else. No clock, chance, `await` or I/O lives here; time and ids come in as parameters.
 *
 * This file is the closed list of what can be in the log. A stored event is never rewritten: a changed shape is a new
 * schema version, and the codec upcasts the old one when it is read.
 */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { dayMs } from './calendar.ts'
import { Idempotency } from './reading/idempotency-key.ts'

const strict = { additionalProperties: false } as const
const ms = Type.Integer({ minimum: 0, description: 'milliseconds since 1970' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** How many readings are accepted in any window of that length. */
export const Limit = Type.Object(
  { readings: Type.Integer({ minimum: 1 }), windowMs: Type.Integer({ minimum: 1 }) },
  strict,
)
export type Limit = Static<typeof Limit>

export const Role = Type.Union([Type.Literal('admin'), Type.Literal('auditor')])
export type Role = Static<typeof Role>

/** `set_up`: for the first admin. `invite`: for an e-mail without an account. `reset`: for an account that exists. */
export const LinkPurpose = Type.Union([Type.Literal('set_up'), Type.Literal('invite'), Type.Literal('reset')])
export type LinkPurpose = Static<typeof LinkPurpose>

/** `failed`: the password was wrong. `throttled`: it was not compared. */
const refusedCounts = { failed: Type.Integer({ minimum: 0 }), throttled: Type.Integer({ minimum: 0 }) }

/**
 * Bounds and defaults a cellar sets for its keys and readings; `null` is "none of its own". `retentionMs` is how long its
 * readings are kept: whole days, `null` for ever.
 */
export const CellarPolicy = Type.Object(
  { limit: orNull(Limit), readingAgeMsMax: orNull(ms), readingAheadMsMax: orNull(ms), retentionMs: orNull(ms) },
  strict,
)
export type CellarPolicy = Static<typeof CellarPolicy>

/** `data` of every event type at its newest schema version. */
export const eventData = {
  LogCreated: Type.Object({ logId: Type.String() }, strict),
  /** The log is a copy of another, which the events before this one name. Not to be served from before it is ended. */
  LogCopyBegun: Type.Object({ copyId: Type.String() }, strict),
  /** Both were read and compared: `digest` is the SHA-256 of what they hold, `events` how many that are. */
  LogCopyEnded: Type.Object({ digest: Type.String(), events: Type.Integer({ minimum: 0 }) }, strict),
  /** In a copy: keeps the place of a reading that retention had taken away, and is taken away like it. */
  RevisionVacant: Type.Object({}, strict),

  /** The schema of the embedded log's file was changed, and the person who started the service accepted that. */
  LogSchemaAccepted: Type.Object({ differences: Type.Array(Type.String()) }, strict),

  /** In a stream of records: its events of these revisions, written before `recordedBefore`, are deleted. */
  RecordsPurged: Type.Object(
    {
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      /** The beginning of a day, UTC. */
      recordedBefore: Type.Integer({ minimum: 0, multipleOf: dayMs }),
    },
    strict,
  ),
  /**
   * Never stored. Stands for a record that this version can't read, because it is newer or damaged. `type` is the record's own
   * type. `recordedAt` is 0 if the time can't be read either.
   */
  RecordUnreadable: Type.Object({ type: Type.String(), why: Type.String() }, strict),

  CellarCreated: Type.Object({ cellar: Type.String(), title: Type.String() }, strict),
  CellarRenamed: Type.Object({ title: Type.String() }, strict),
  CellarPolicyChanged: Type.Object({ policy: CellarPolicy }, strict),
  /**
   * In the cellar's stream: these revisions of a key's readings are gone for good, the first ones that were still there.
   * `readings` of them were readings, all accepted before `acceptedBefore`, the last one at `lastAcceptedAt`.
   */
  ReadingsPurged: Type.Object(
    {
      cellar: Type.String(),
      keyId: Type.String(),
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      readings: Type.Integer({ minimum: 0 }),
      /** The beginning of a day, UTC. */
      acceptedBefore: Type.Integer({ minimum: 0, multipleOf: dayMs }),
      lastAcceptedAt: ms,
    },
    strict,
  ),

  KeyCreated: Type.Object(
    {
      keyId: Type.String(),
      cellar: Type.String(),
      label: Type.String(),
      note: Type.String(),
      /** SHA-256 of the secret, 64 lower-case hex digits. */
      secretHash: Type.String(),
      /** `null`: the cellar's. */
      limit: orNull(Limit),
      expiresAt: orNull(ms),
      /** The key that it was made to follow. */
      predecessorId: orNull(Type.String()),
    },
    strict,
  ),
  KeyRelabelled: Type.Object({ label: Type.String(), note: Type.String() }, strict),
  KeyLimitChanged: Type.Object({ limit: orNull(Limit) }, strict),
  KeyExpirySet: Type.Object({ expiresAt: orNull(ms) }, strict),
  /** In the stream of the old key, before the new one is made. It lives on so long after the new one's first use. */
  KeyRotated: Type.Object({ successorId: Type.String(), overlapMs: Type.Integer({ minimum: 0 }) }, strict),
  /** Its successor was first used then; `expiresAt` is its expiry from now on, never a later one than it had. */
  KeySuperseded: Type.Object({ successorId: Type.String(), usedAt: ms, expiresAt: ms }, strict),
  KeySuspended: Type.Object({ reason: Type.String() }, strict),
  KeyResumed: Type.Object({ reason: Type.String() }, strict),
  KeyExpired: Type.Object({ expiresAt: ms }, strict),
  /** `sealId` is the id of the ReadingsSealed event that made it so. */
  KeyRevoked: Type.Object({ reason: Type.String(), sealId: Type.String() }, strict),

  ReadingAccepted: Type.Object(
    {
      cellar: Type.String(),
      rack: Type.String(),
      keg: Type.String(),
      value: Type.Number(),
      timestamp: Type.String(),
    },
    strict,
  ),
  /** Ends a readings stream for good: stands for a revocation (docs/protocol.md, "Taking a right away"). */
  ReadingsSealed: Type.Object({ reason: Type.String() }, strict),
  /** Every node brings the key's stream up to this revision before its next append. */
  ReadingsFenced: Type.Object({ keyRevision: Type.Integer({ minimum: 0 }) }, strict),

  /**
   * A one-time link was made; only the hash of its secret is kept. `purpose` is `null` in events of version 1, which did not
   * say whether the e-mail had an account.
   */
  OperatorLinkIssued: Type.Object(
    {
      email: orNull(Type.String()),
      role: Role,
      linkHash: Type.String(),
      expiresAt: ms,
      purpose: orNull(LinkPurpose),
    },
    strict,
  ),
  /** In `operator-setup` only: the link was spent on this account. */
  OperatorLinkUsed: Type.Object({ linkHash: Type.String(), email: Type.String() }, strict),
  /** `linkHash` is the link that was used, and `linkMadeBy` who made it. Both are `null` in events of version 1. */
  OperatorAdded: Type.Object(
    {
      email: Type.String(),
      role: Role,
      passwordHash: Type.String(),
      linkHash: orNull(Type.String()),
      linkMadeBy: orNull(Type.String()),
    },
    strict,
  ),
  /**
   * `linkHash` is the link that allowed it, and `linkMadeBy` who made that link: an e-mail, or `cli`. `linkHash` is `null` if the
   * operator gave the old password. Then `linkMadeBy` is that of the old password. Ends every session of the operator, and forgets the browsers that are known.
   */
  OperatorPasswordSet: Type.Object(
    { passwordHash: Type.String(), linkHash: orNull(Type.String()), linkMadeBy: orNull(Type.String()) },
    strict,
  ),
  OperatorRoleChanged: Type.Object({ role: Role }, strict),
  /** Takes the account, every session and every open link; also an invitation that nobody has taken up. */
  OperatorRemoved: Type.Object({}, strict),
  /**
   * The session ends at `expiresAt`, or at `idleAt` if nobody has used it until then. `deviceHash` is the SHA-256 of the secret
   * by which the browser is known again. `seenRevision` is the `SignInSeen` in `signins-node` that has address and browser.
   */
  OperatorSignedIn: Type.Object(
    {
      sessionHash: Type.String(),
      expiresAt: ms,
      idleAt: ms,
      deviceHash: orNull(Type.String()),
      seenRevision: orNull(Type.Integer({ minimum: 0 })),
    },
    strict,
  ),
  /** The session was used, so it ends at `idleAt` only. */
  OperatorSessionRenewed: Type.Object({ sessionHash: Type.String(), idleAt: ms }, strict),
  OperatorSignedOut: Type.Object({ sessionHash: Type.String() }, strict),

  /**
   * In `signins-node`, which is purged: addresses and browsers are personal data. Comes before the `OperatorSignedIn` that
   * names it.
   */
  SignInSeen: Type.Object(
    { email: Type.String(), sessionId: Type.String(), address: Type.String(), browser: Type.String() },
    strict,
  ),
  /** In `signins-node`: sums of the sign-ins that a node refused from `from` to `to`. */
  SignInsRefused: Type.Object(
    {
      from: ms,
      to: ms,
      accounts: Type.Array(
        Type.Object({ email: Type.String(), ...refusedCounts, addresses: Type.Array(Type.String()) }, strict),
      ),
      /** For e-mails without an account, and for accounts beyond the bound of the list. */
      others: Type.Object(refusedCounts, strict),
    },
    strict,
  ),
} as const

export type EventType = keyof typeof eventData
export type EventData<T extends EventType> = Static<(typeof eventData)[T]>

/** Newest schema version of every type. `src/log/codec/upcast.ts` leads from each older one to the next. */
export const schemaVersion = {
  ...(Object.fromEntries(Object.keys(eventData).map((type) => [type, 1])) as Record<EventType, number>),
  CellarPolicyChanged: 2,
  KeyCreated: 2,
  OperatorAdded: 2,
  OperatorLinkIssued: 2,
  OperatorPasswordSet: 2,
  OperatorSignedIn: 2,
}

/**
 * The session in which an operator did it. `id` is the beginning of its hash. `linkMadeBy`: the operator's password came from a
 * link that this person made (an e-mail, or `cli`), who may have used it.
 */
export const BySession = Type.Object({ id: Type.String(), linkMadeBy: orNull(Type.String()) }, strict)
export type BySession = Static<typeof BySession>

/**
 * Who did it. `cli` is a person who can use the data folder; `system` is the service itself (a sweep, a repair). An operator
 * without a
 * session spent a link, or the event is older than version 2 of `OperatorSignedIn`.
 */
export const By = Type.Union([
  Type.Object({ kind: Type.Literal('operator'), email: Type.String(), session: Type.Optional(BySession) }, strict),
  Type.Object({ kind: Type.Literal('key'), keyId: Type.String() }, strict),
  Type.Object({ kind: Type.Literal('cli') }, strict),
  Type.Object({ kind: Type.Literal('system') }, strict),
])
export type By = Static<typeof By>

const everyMetadata = {
  by: By,
  requestId: Type.String(),
  /** The request that began it all, and the event or request that directly led here. */
  correlationId: Type.String(),
  causationId: Type.String(),
}

/**
 * `idempotency` is there only in the first event that a request with an `Idempotency-Key` stored. Two shapes and not an
 * optional field: the check of a strict object with one takes 80 ns more, for every reading.
 */
export const Metadata = Type.Union([
  Type.Object(everyMetadata, strict),
  Type.Object({ ...everyMetadata, idempotency: Idempotency }, strict),
])
export type Metadata = Static<TObject<typeof everyMetadata>> & { readonly idempotency?: Idempotency }

/** What a decision wants recorded; the actor adds id, time and metadata. */
export type Decided<T extends EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K> }
}[T]

/** An event that is to be appended. `recordedAt` is ms, and never goes back within a stream, unless it is one of records. */
export type NewEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly id: string
    readonly type: K
    readonly recordedAt: number
    readonly data: EventData<K>
    readonly metadata: Metadata
  }
}[T]

/** An event as it lies in the log. `position` orders the whole log, is opaque, and differs between engines. */
export type RecordedEvent<T extends EventType = EventType> = {
  [K in T]: NewEvent<K> & { readonly stream: string; readonly revision: number; readonly position: number }
}[T]
