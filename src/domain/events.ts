/**
 * This file defines every event that the log can contain. Stored events are never rewritten. If the fields of an event change,
 * the event gets a new schema version, and `src/log/codec/upcast.ts` converts old events. Times are in ms.
 */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { dayMs } from './calendar.ts'
import { Idempotency } from './reading/idempotency-key.ts'

const strict = { additionalProperties: false } as const
const ms = Type.Integer({ minimum: 0, description: 'milliseconds since 1970' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A rate limit: at most `readings` in any period of `windowMs`. */
export const Limit = Type.Object(
  { readings: Type.Integer({ minimum: 1 }), windowMs: Type.Integer({ minimum: 1 }) },
  strict,
)
export type Limit = Static<typeof Limit>

export const Role = Type.Union([Type.Literal('admin'), Type.Literal('auditor')])
export type Role = Static<typeof Role>

export const LinkPurpose = Type.Union([Type.Literal('set_up'), Type.Literal('invite'), Type.Literal('reset')])
export type LinkPurpose = Static<typeof LinkPurpose>

/** `history`: the changes of one key. */
export const ExportedListName = Type.Union([
  Type.Literal('events'),
  Type.Literal('readings'),
  Type.Literal('history'),
  Type.Literal('keys'),
])
export type ExportedListName = Static<typeof ExportedListName>

export const ExportFormat = Type.Union([Type.Literal('ndjson'), Type.Literal('csv')])
export type ExportFormat = Static<typeof ExportFormat>

/**
 * `failed` counts wrong passwords. `throttled` counts sign-ins that were refused without comparing the password, because there
 * were too many sign-ins.
 */
const refusedCounts = { failed: Type.Integer({ minimum: 0 }), throttled: Type.Integer({ minimum: 0 }) }

/**
 * If `limit` is `null`, the default limit holds. Any other field that is `null` sets no bound, so a `retentionMs` of `null`
 * keeps readings for ever. `retentionMs` is a whole number of days.
 */
export const CellarPolicy = Type.Object(
  { limit: orNull(Limit), readingAgeMsMax: orNull(ms), readingAheadMsMax: orNull(ms), retentionMs: orNull(ms) },
  strict,
)
export type CellarPolicy = Static<typeof CellarPolicy>

export const eventData = {
  LogCreated: Type.Object({ logId: Type.String() }, strict),
  /** This log is a copy of another log. No node can use the copy before `LogCopyEnded`, because events are still missing. */
  LogCopyBegun: Type.Object({ copyId: Type.String() }, strict),
  /**
   * The copy is complete. `digest` is the SHA-256 of the events. The source and the copy gave the same digest, so no copied
   * event differs.
   */
  LogCopyEnded: Type.Object({ digest: Type.String(), events: Type.Integer({ minimum: 0 }) }, strict),
  /**
   * When a log is copied, this event takes the place of a reading that was deleted in the source. So later readings keep their
   * revisions.
   */
  RevisionVacant: Type.Object({}, strict),

  /** A person accepted the changed schema of the SQLite file. Otherwise the service refuses a file with changes. */
  LogSchemaAccepted: Type.Object({ differences: Type.Array(Type.String()) }, strict),
  /**
   * A person accepted that the log has lost its end. Otherwise the service refuses such a log. Events that were lost had
   * positions from `lastPosition + 1` on, at least up to `knownPosition`. Later events have these positions again.
   */
  LogLossAccepted: Type.Object(
    {
      lastPosition: Type.Integer({ minimum: 0 }),
      knownPosition: Type.Integer({ minimum: 0 }),
      findings: Type.Array(Type.String()),
    },
    strict,
  ),

  /**
   * Somebody has taken a list out of the log. Each export writes one event before its first byte, with `phase` `begun`, and
   * one at its end. Without an end, the process ended first, or the store was unavailable.
   */
  LogExported: Type.Object(
    {
      phase: Type.Union([Type.Literal('begun'), Type.Literal('complete'), Type.Literal('cut_off')]),
      /** The revision of the beginning, in the same stream; `null` in the beginning itself. */
      begunRevision: orNull(Type.Integer({ minimum: 0 })),
      list: ExportedListName,
      format: ExportFormat,
      /** The fields that were set, as people type them: instants as text, and positions as digits. */
      filter: Type.Record(Type.String(), Type.String()),
      /** The address of the client; `null` on the command line. */
      address: orNull(Type.String()),
      /** Rows that were handed over. */
      rows: Type.Integer({ minimum: 0 }),
      /** Why the export was cut off; otherwise `null`. */
      why: orNull(Type.String()),
    },
    strict,
  ),
  RecordsPurged: Type.Object(
    {
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      /** A midnight (UTC). Records from before this midnight were old enough to be deleted. */
      recordedBefore: Type.Integer({ minimum: 0, multipleOf: dayMs }),
    },
    strict,
  ),
  /**
   * This event is never stored. Reads return it in place of a record, such as a sign-in, that is damaged or newer than this
   * version of the service. The read does not fail, because no decision depends on records. `recordedAt` is 0 if the time is
   * unreadable too.
   */
  RecordUnreadable: Type.Object({ type: Type.String(), why: Type.String() }, strict),

  CellarCreated: Type.Object({ cellar: Type.String(), title: Type.String() }, strict),
  CellarRenamed: Type.Object({ title: Type.String() }, strict),
  CellarPolicyChanged: Type.Object({ policy: CellarPolicy }, strict),
  /**
   * This event is in the cellar's stream. It says which revisions of a key's readings stream are deleted because of their age.
   * `readings` does not count deleted fence events (docs/protocol.md).
   */
  ReadingsPurged: Type.Object(
    {
      cellar: Type.String(),
      keyId: Type.String(),
      firstRevision: Type.Integer({ minimum: 0 }),
      lastRevision: Type.Integer({ minimum: 0 }),
      readings: Type.Integer({ minimum: 0 }),
      /** A midnight (UTC). Readings from before this midnight were old enough to be deleted. */
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
      /** SHA-256 of the key's secret, 64 lower-case hex digits. */
      secretHash: Type.String(),
      /** `null`: the key has the limit of its cellar. */
      limit: orNull(Limit),
      expiresAt: orNull(ms),
      predecessorId: orNull(Type.String()),
    },
    strict,
  ),
  KeyRelabelled: Type.Object({ label: Type.String(), note: Type.String() }, strict),
  KeyLimitChanged: Type.Object({ limit: orNull(Limit) }, strict),
  KeyExpirySet: Type.Object({ expiresAt: orNull(ms) }, strict),
  /** This event is in the old key's stream. The old key expires `overlapMs` after the first use of the new key. */
  KeyRotated: Type.Object({ successorId: Type.String(), overlapMs: Type.Integer({ minimum: 0 }) }, strict),
  /**
   * The new key of a rotation (the successor) was used for the first time. `expiresAt` is the new expiry of the old key, and is
   * never later than before.
   */
  KeySuperseded: Type.Object({ successorId: Type.String(), usedAt: ms, expiresAt: ms }, strict),
  KeySuspended: Type.Object({ reason: Type.String() }, strict),
  KeyResumed: Type.Object({ reason: Type.String() }, strict),
  KeyExpired: Type.Object({ expiresAt: ms }, strict),
  /** `sealId` is the id of the `ReadingsSealed` event. That event was appended first and stopped the key's readings. */
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
  /** Ends a readings stream, because the key is revoked. No event can follow (docs/protocol.md, "Taking a right away"). */
  ReadingsSealed: Type.Object({ reason: Type.String() }, strict),
  /**
   * A node that meets this event must read the key's stream up to `keyRevision` before it appends more readings, because the
   * key lost a right.
   */
  ReadingsFenced: Type.Object({ keyRevision: Type.Integer({ minimum: 0 }) }, strict),

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
  /**
   * This event is only in the stream `operator-setup`. A link for the first admin was used, which ends all other such links.
   */
  OperatorLinkUsed: Type.Object({ linkHash: Type.String(), email: Type.String() }, strict),
  /** Events of version 1 did not store `linkHash` and `linkMadeBy`, so both fields are `null` there. */
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
   * This event ends every session and forgets all known browsers, because another person can know the old password.
   * `linkMadeBy` is the e-mail of the person who made the link, or `cli`. If the operator entered the old password instead of
   * using a link, `linkHash` is `null`, and `linkMadeBy` does not change.
   */
  OperatorPasswordSet: Type.Object(
    { passwordHash: Type.String(), linkHash: orNull(Type.String()), linkMadeBy: orNull(Type.String()) },
    strict,
  ),
  OperatorRoleChanged: Type.Object({ role: Role }, strict),
  /** This event ends the account, its sessions and its links, or withdraws an invitation. */
  OperatorRemoved: Type.Object({}, strict),
  /**
   * The session ends at `idleAt` if it is not used before. `deviceHash` is the hash of a secret in the browser, so that a later
   * sign-in recognizes the browser. `seenRevision` is the revision of the `SignInSeen` event of this sign-in.
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
  OperatorSessionRenewed: Type.Object({ sessionHash: Type.String(), idleAt: ms }, strict),
  OperatorSignedOut: Type.Object({ sessionHash: Type.String() }, strict),

  /**
   * This event contains personal data. So it is in the stream `signins-node`, whose old events are deleted. It is appended
   * before the `OperatorSignedIn` event, because that event stores this event's revision (`seenRevision`).
   */
  SignInSeen: Type.Object(
    { email: Type.String(), sessionId: Type.String(), address: Type.String(), browser: Type.String() },
    strict,
  ),
  SignInsRefused: Type.Object(
    {
      from: ms,
      to: ms,
      accounts: Type.Array(
        Type.Object({ email: Type.String(), ...refusedCounts, addresses: Type.Array(Type.String()) }, strict),
      ),
      /** These are the counts for e-mails without an account, and for accounts that did not fit into `accounts`. */
      others: Type.Object(refusedCounts, strict),
    },
    strict,
  ),

  /**
   * This event sums up what one node refused: of one key in the stream `refusals-<keyId>`, and all else in `refusals-node`. A refused
   * request counts 1, and so does each refused reading of a batch. It never has a body, the text of a key or an invalid name.
   */
  ReadingsRefused: Type.Object(
    {
      from: ms,
      to: ms,
      counts: Type.Array(Type.Object({ code: Type.String(), count: Type.Integer({ minimum: 1 }) }, strict)),
      /** Some of the refusals: at least one for each code, as far as there is room. Empty in `refusals-node`, and if the day had no room. */
      samples: Type.Array(
        Type.Object(
          {
            requestId: Type.String(),
            atMs: ms,
            code: Type.String(),
            field: orNull(Type.String()),
            rule: orNull(Type.String()),
            /** `null` if the body was not read, or if the name is invalid. */
            rack: orNull(Type.String()),
            keg: orNull(Type.String()),
          },
          strict,
        ),
      ),
    },
    strict,
  ),
} as const

export type EventType = keyof typeof eventData
export type EventData<T extends EventType> = Static<(typeof eventData)[T]>

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
 * `id` is the beginning of the session's hash. `linkMadeBy` is the person who made the link that set the password. That person
 * can know the password, so that person can be the one who uses the session.
 */
export const BySession = Type.Object({ id: Type.String(), linkMadeBy: orNull(Type.String()) }, strict)
export type BySession = Static<typeof BySession>

/**
 * `cli` is a person who can use the data folder. `system` is the service. `session` is missing in old events. It is also
 * missing if the operator used a link and so had no session.
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
  correlationId: Type.String(),
  causationId: Type.String(),
}

/**
 * Only the first event of a request can have `idempotency`. The schema is a union, because an optional field would make
 * checking each reading 80 ns slower.
 */
export const Metadata = Type.Union([
  Type.Object(everyMetadata, strict),
  Type.Object({ ...everyMetadata, idempotency: Idempotency }, strict),
])
export type Metadata = Static<TObject<typeof everyMetadata>> & { readonly idempotency?: Idempotency }

export type Decided<T extends EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K> }
}[T]

/** `recordedAt` (ms) never decreases within a stream, except in streams of records, such as sign-ins. */
export type NewEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly id: string
    readonly type: K
    readonly recordedAt: number
    readonly data: EventData<K>
    readonly metadata: Metadata
  }
}[T]

/**
 * `position` is the event's place in the whole log. EventStoreDB and the embedded log number positions differently, so events
 * of a copied log get other positions.
 */
export type RecordedEvent<T extends EventType = EventType> = {
  [K in T]: NewEvent<K> & { readonly stream: string; readonly revision: number; readonly position: number }
}[T]
