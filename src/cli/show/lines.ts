/** Times are ISO 8601 with milliseconds. */
import { type Static, Type } from '@sinclair/typebox'
import { attentionKind } from '../../domain/events/attention-events.ts'
import { CellarPolicy } from '../../domain/events/cellar-events.ts'
import { Limit } from '../../domain/events/declare-event.ts'
import { Role } from '../../domain/events/operator-events.ts'
import { By } from '../../domain/events.ts'
import { keyStatuses } from '../../domain/key-refusal.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])
const KeyStatus = Type.Union(keyStatuses.map((status) => Type.Literal(status)))

const CellarView = Type.Object({
  cellar: Type.String(),
  title: Type.String(),
  keys: Type.Integer(),
  createdAt: Type.String(),
  /** Durations are in ms. */
  policy: CellarPolicy,
  /** By the name of the keg. */
  units: Type.Record(Type.String(), Type.String()),
  /** `null`: all racks, all kegs. `after` is in ms. */
  silence: Type.Array(
    Type.Object({ rack: textOrNull, keg: textOrNull, after: Type.Union([Type.Integer(), Type.Literal('never')]) }),
  ),
})
export type CellarView = Static<typeof CellarView>

/** `null`: it does not apply. */
const AttentionView = Type.Object({
  since: Type.String(),
  what: Type.String(),
  cellar: textOrNull,
  rack: textOrNull,
  keg: textOrNull,
  /** An id. */
  key: textOrNull,
  node: textOrNull,
  count: Type.Union([Type.Integer(), Type.Null()]),
  due: textOrNull,
  restsUntil: textOrNull,
})
export type AttentionView = Static<typeof AttentionView>

const WebhookView = Type.Object({
  id: Type.String(),
  url: Type.String(),
  /** Empty: all. */
  kinds: Type.Array(attentionKind),
  /** As the page of the webhook says it. */
  state: Type.String(),
  waiting: Type.Integer(),
  /** Of the failures in a row. `null`: the last attempt did not fail. */
  failingSince: textOrNull,
  lastAttempt: textOrNull,
  /** Why this node cannot send to it. */
  trouble: textOrNull,
  /** Only after `webhook secret`. */
  secret: Type.Optional(Type.String()),
})
export type WebhookView = Static<typeof WebhookView>

const KeyView = Type.Object({
  id: Type.String(),
  /** Only after `key create` and `key rotate`. */
  key: Type.Optional(Type.String()),
  cellar: Type.String(),
  label: Type.String(),
  note: Type.String(),
  status: KeyStatus,
  limit: Limit,
  expiresAt: textOrNull,
  createdAt: Type.String(),
  lastUsedAt: textOrNull,
  /** The id of the key that this key replaces. */
  predecessor: Type.Optional(Type.String()),
  /** The id of the key that the last rotation of this key created. */
  successor: Type.Optional(Type.String()),
  /** Only after `key rotate`: the unused successor that the new key replaces. */
  replaced: Type.Optional(Type.String()),
})
export type KeyView = Static<typeof KeyView>

const UnchangedKeyView = Type.Object({
  id: Type.String(),
  /** `null`: this key is not known. */
  cellar: textOrNull,
  label: textOrNull,
  reason: Type.String(),
})
export type UnchangedKeyView = Static<typeof UnchangedKeyView>

const LinkView = Type.Object({ url: Type.String(), email: textOrNull, role: Role, expiresAt: Type.String() })
export type LinkView = Static<typeof LinkView>

const OperatorView = Type.Object({
  email: Type.String(),
  /** `null` for an invitation, and for a person whose access was removed. So is `addedAt`. */
  role: Type.Union([Role, Type.Null()]),
  addedAt: textOrNull,
  /** Only in `operator list`: an unused one-time link, without an account. */
  invitation: Type.Optional(Type.Object({ role: Role, expiresAt: Type.String() })),
})
export type OperatorView = Static<typeof OperatorView>

/**
 * Hashes are redacted. `position` is a string, because no program may calculate with it: each log numbers its positions
 * differently.
 */
const EventView = Type.Object({
  position: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  recordedAt: Type.String(),
  data: Type.Object({}),
  metadata: Type.Object({ by: By, requestId: Type.String() }),
})
export type EventView = Static<typeof EventView>

const HistoryView = Type.Object({
  position: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  type: Type.String(),
  recordedAt: Type.String(),
  by: By,
  changes: Type.Array(Type.String()),
  /** Immediately after the event. */
  status: KeyStatus,
  reason: Type.String(),
})
export type HistoryView = Static<typeof HistoryView>

/** `status` is `null` if the key did not exist yet at the time `at`. */
const StateView = Type.Object({
  key: Type.String(),
  at: Type.String(),
  status: Type.Union([KeyStatus, Type.Null()]),
  reason: Type.String(),
})
export type StateView = Static<typeof StateView>

const ExportedPage = Type.Object({
  text: Type.String(),
  /** Of this page and all before. */
  rows: Type.Integer(),
  /** The part of the export that is done, from 0 to 1. */
  share: Type.Number(),
})

export const Line = Type.Union([
  Type.Object({ kind: Type.Literal('cellar'), value: CellarView }),
  Type.Object({ kind: Type.Literal('key'), value: KeyView }),
  Type.Object({ kind: Type.Literal('unchanged_key'), value: UnchangedKeyView }),
  Type.Object({ kind: Type.Literal('link'), value: LinkView }),
  Type.Object({ kind: Type.Literal('operator'), value: OperatorView }),
  Type.Object({ kind: Type.Literal('attention'), value: AttentionView }),
  Type.Object({ kind: Type.Literal('webhook'), value: WebhookView }),
  Type.Object({ kind: Type.Literal('event'), value: EventView }),
  Type.Object({ kind: Type.Literal('history'), value: HistoryView }),
  Type.Object({ kind: Type.Literal('state'), value: StateView }),
  Type.Object({ kind: Type.Literal('exported'), value: ExportedPage }),
])
export type Line = Static<typeof Line>

export const isoOf = (ms: number): string => new Date(ms).toISOString()
