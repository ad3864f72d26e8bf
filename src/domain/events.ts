/**
 * Every event that the log can have. A stored event is never rewritten. A changed shape is a new schema version, and the codec
 * converts the old one when it is read. Times are ms.
 */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { dayMs } from './calendar.ts'
import { Idempotency } from './reading/idempotency-key.ts'

const strict = { additionalProperties: false } as const
const ms = Type.Integer({ minimum: 0, description: 'milliseconds since 1970' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** At most `readings` in any window of `windowMs`. */
export const Limit = Type.Object(
  { readings: Type.Integer({ minimum: 1 }), windowMs: Type.Integer({ minimum: 1 }) },
  strict,
)
export type Limit = Static<typeof Limit>

export const Role = Type.Union([Type.Literal('admin'), Type.Literal('auditor')])
export type Role = Static<typeof Role>

export const LinkPurpose = Type.Union([Type.Literal('set_up'), Type.Literal('invite'), Type.Literal('reset')])
export type LinkPurpose = Static<typeof LinkPurpose>

/** `failed`: wrong password. `throttled`: not compared. */
const refusedCounts = { failed: Type.Integer({ minimum: 0 }), throttled: Type.Integer({ minimum: 0 }) }

/** `null`: the cellar sets no bound of its own. `retentionMs` is whole days, `null` for ever. */
export const CellarPolicy = Type.Object(
  { limit: orNull(Limit), readingAgeMsMax: orNull(ms), readingAheadMsMax: orNull(ms), retentionMs: orNull(ms) },
  strict,
)
export type CellarPolicy = Static<typeof CellarPolicy>

/** `data` of every event type at its newest schema version. */
export const eventData = {
  LogCreated: Type.Object({ logId: Type.String() }, strict),
  /** No node may serve a copy before `LogCopyEnded`. */
  LogCopyBegun: Type.Object({ copyId: Type.String() }, strict),
  /** Both logs are equal. `digest` is the SHA-256 of the events. */
  LogCopyEnded: Type.Object({ digest: Type.String(), events: Type.Integer({ minimum: 0 }) }, strict),
  /** In a copy: keeps the revision of a purged reading, and is purged too. */
  RevisionVacant: Type.Object({}, strict),

  /** The SQLite file has another schema, and a person accepted that at a start. */
  LogSchemaAccepted: Type.Object({ differences: Type.Array(Type.String()) }, strict),

  /** In a stream of records. All were recorded before `recordedBefore`. */
  RecordsPurged: Type.Object(
    {
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      /** Midnight, UTC. */
      recordedBefore: Type.Integer({ minimum: 0, multipleOf: dayMs }),
    },
    strict,
  ),
  /** Never stored. Replaces a record that is newer or damaged. `recordedAt` is 0 if it is unreadable too. */
  RecordUnreadable: Type.Object({ type: Type.String(), why: Type.String() }, strict),

  CellarCreated: Type.Object({ cellar: Type.String(), title: Type.String() }, strict),
  CellarRenamed: Type.Object({ title: Type.String() }, strict),
  CellarPolicyChanged: Type.Object({ policy: CellarPolicy }, strict),
  /** In the cellar's stream: the first revisions of a key's readings stream are deleted. `readings` of them were readings. */
  ReadingsPurged: Type.Object(
    {
      cellar: Type.String(),
      keyId: Type.String(),
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      readings: Type.Integer({ minimum: 0 }),
      /** Midnight, UTC. */
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
      /** SHA-256, 64 lower-case hex digits. */
      secretHash: Type.String(),
      /** `null`: the cellar's limit. */
      limit: orNull(Limit),
      expiresAt: orNull(ms),
      predecessorId: orNull(Type.String()),
    },
    strict,
  ),
  KeyRelabelled: Type.Object({ label: Type.String(), note: Type.String() }, strict),
  KeyLimitChanged: Type.Object({ limit: orNull(Limit) }, strict),
  KeyExpirySet: Type.Object({ expiresAt: orNull(ms) }, strict),
  /** In the old key's stream, before `KeyCreated`. The old key works for `overlapMs` after the new key's first use. */
  KeyRotated: Type.Object({ successorId: Type.String(), overlapMs: Type.Integer({ minimum: 0 }) }, strict),
  /** First use of the successor. `expiresAt` is the old key's new expiry, never later than before. */
  KeySuperseded: Type.Object({ successorId: Type.String(), usedAt: ms, expiresAt: ms }, strict),
  KeySuspended: Type.Object({ reason: Type.String() }, strict),
  KeyResumed: Type.Object({ reason: Type.String() }, strict),
  KeyExpired: Type.Object({ expiresAt: ms }, strict),
  /** `sealId` is the id of the `ReadingsSealed` that came first. */
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
  /** The last event of a readings stream (docs/protocol.md, "Taking a right away"). */
  ReadingsSealed: Type.Object({ reason: Type.String() }, strict),
  /** A node reads the key's stream to this revision before its next append. */
  ReadingsFenced: Type.Object({ keyRevision: Type.Integer({ minimum: 0 }) }, strict),

  /** `purpose` is `null` in version 1. */
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
  /** Only in `operator-setup`. */
  OperatorLinkUsed: Type.Object({ linkHash: Type.String(), email: Type.String() }, strict),
  /** Both link fields are `null` in version 1. */
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
   * Ends every session of the operator, and forgets all known browsers. `linkMadeBy` is an e-mail or `cli`. `linkHash` is `null` if
   * the operator gave the old password. Then `linkMadeBy` is copied from the old password.
   */
  OperatorPasswordSet: Type.Object(
    { passwordHash: Type.String(), linkHash: orNull(Type.String()), linkMadeBy: orNull(Type.String()) },
    strict,
  ),
  OperatorRoleChanged: Type.Object({ role: Role }, strict),
  /** Ends the account, its sessions and its links, or withdraws an invitation. */
  OperatorRemoved: Type.Object({}, strict),
  /**
   * The session ends at `expiresAt`, or at `idleAt` if it is not used. `deviceHash` is the SHA-256 of a secret in the browser.
   * `seenRevision` is the revision of the `SignInSeen`.
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
  /** The session was used, so `idleAt` is later. */
  OperatorSessionRenewed: Type.Object({ sessionHash: Type.String(), idleAt: ms }, strict),
  OperatorSignedOut: Type.Object({ sessionHash: Type.String() }, strict),

  /** In `signins-node`, which is purged, because these are personal data. Written before the `OperatorSignedIn`. */
  SignInSeen: Type.Object(
    { email: Type.String(), sessionId: Type.String(), address: Type.String(), browser: Type.String() },
    strict,
  ),
  /** In `signins-node`: sums of a node's refused sign-ins from `from` to `to`. */
  SignInsRefused: Type.Object(
    {
      from: ms,
      to: ms,
      accounts: Type.Array(
        Type.Object({ email: Type.String(), ...refusedCounts, addresses: Type.Array(Type.String()) }, strict),
      ),
      /** E-mails without an account, and accounts beyond the bound. */
      others: Type.Object(refusedCounts, strict),
    },
    strict,
  ),
} as const

export type EventType = keyof typeof eventData
export type EventData<T extends EventType> = Static<(typeof eventData)[T]>

/** Newest version of each type. `src/log/codec/upcast.ts` converts older ones. */
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
 * `id` is the beginning of the session's hash. `linkMadeBy` made the link that set the operator's password, and so may be the
 * person who acts here.
 */
export const BySession = Type.Object({ id: Type.String(), linkMadeBy: orNull(Type.String()) }, strict)
export type BySession = Static<typeof BySession>

/**
 * `cli` is a person with access to the data folder, `system` the service. An operator without a session used a link, or the event
 * is older than version 2 of `OperatorSignedIn`.
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
  /** `correlationId` is the first request, `causationId` the direct cause. */
  correlationId: Type.String(),
  causationId: Type.String(),
}

/**
 * Only the first event of a request with an `Idempotency-Key` has `idempotency`. These are two shapes, because checking an
 * optional field takes 80 ns more for every reading.
 */
export const Metadata = Type.Union([
  Type.Object(everyMetadata, strict),
  Type.Object({ ...everyMetadata, idempotency: Idempotency }, strict),
])
export type Metadata = Static<TObject<typeof everyMetadata>> & { readonly idempotency?: Idempotency }

export type Decided<T extends EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K> }
}[T]

/** `recordedAt` never decreases within a stream, except in streams of records. */
export type NewEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly id: string
    readonly type: K
    readonly recordedAt: number
    readonly data: EventData<K>
    readonly metadata: Metadata
  }
}[T]

/** `position` orders the whole log, and differs between engines. */
export type RecordedEvent<T extends EventType = EventType> = {
  [K in T]: NewEvent<K> & { readonly stream: string; readonly revision: number; readonly position: number }
}[T]
