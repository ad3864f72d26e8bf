/**
 * What the commands answer with: the same objects over the socket, with `--json`, and as the source of the tables for
 * people. Times are ISO 8601 with milliseconds, or `null`.
 */
import { type Static, Type } from '@sinclair/typebox'
import { By, CellarPolicy, Limit, Role } from '../../domain/events.ts'
import { keyStatuses } from '../../domain/key.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])
const KeyStatus = Type.Union(keyStatuses.map((status) => Type.Literal(status)))

const CellarView = Type.Object({
  cellar: Type.String(),
  title: Type.String(),
  keys: Type.Integer(),
  createdAt: Type.String(),
  /** Times in ms; `null`: none of its own. */
  policy: CellarPolicy,
})
export type CellarView = Static<typeof CellarView>

const KeyView = Type.Object({
  id: Type.String(),
  /** The whole key, in the answers to `key create` and `key rotate` only. */
  key: Type.Optional(Type.String()),
  cellar: Type.String(),
  label: Type.String(),
  note: Type.String(),
  status: KeyStatus,
  limit: Limit,
  expiresAt: textOrNull,
  createdAt: Type.String(),
  lastUsedAt: textOrNull,
  /** The ids of the keys that it was made to follow, and that was last made to follow it. */
  predecessor: Type.Optional(Type.String()),
  successor: Type.Optional(Type.String()),
  /** In the answer to `key rotate` only: the id of the key that was to follow, is not used yet, and does not end the old one now. */
  replaced: Type.Optional(Type.String()),
})
export type KeyView = Static<typeof KeyView>

const LinkView = Type.Object({ url: Type.String(), email: textOrNull, role: Role, expiresAt: Type.String() })
export type LinkView = Static<typeof LinkView>

/** `role` and `addedAt` are of the account: `null` before there is one, and once access was taken away. */
const OperatorView = Type.Object({
  email: Type.String(),
  role: Type.Union([Role, Type.Null()]),
  addedAt: textOrNull,
  /** In `operator list`, of who has no account but an open link. Its role is no one's yet, so it does not stand in `role`. */
  invitation: Type.Optional(Type.Object({ role: Role, expiresAt: Type.String() })),
})
export type OperatorView = Static<typeof OperatorView>

/** An event as it lies in the log, secrets and their hashes redacted. `position` is opaque, so it is a string. */
const EventView = Type.Object({
  position: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  recordedAt: Type.String(),
  data: Type.Unknown(),
  metadata: Type.Unknown(),
})
export type EventView = Static<typeof EventView>

/** One event of a key's history, in words. */
const HistoryView = Type.Object({
  position: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  type: Type.String(),
  recordedAt: Type.String(),
  by: By,
  changes: Type.Array(Type.String()),
  /** What the key was right after the event, and why. */
  status: KeyStatus,
  reason: Type.String(),
})
export type HistoryView = Static<typeof HistoryView>

/** What a key was at one instant, and why. `status` is `null` before it was created. */
const StateView = Type.Object({
  key: Type.String(),
  at: Type.String(),
  status: Type.Union([KeyStatus, Type.Null()]),
  reason: Type.String(),
})
export type StateView = Static<typeof StateView>

export const Line = Type.Union([
  Type.Object({ kind: Type.Literal('cellar'), value: CellarView }),
  Type.Object({ kind: Type.Literal('key'), value: KeyView }),
  Type.Object({ kind: Type.Literal('link'), value: LinkView }),
  Type.Object({ kind: Type.Literal('operator'), value: OperatorView }),
  Type.Object({ kind: Type.Literal('event'), value: EventView }),
  Type.Object({ kind: Type.Literal('history'), value: HistoryView }),
  Type.Object({ kind: Type.Literal('state'), value: StateView }),
])
export type Line = Static<typeof Line>

/** Ms as ISO 8601 with milliseconds. */
export const isoOf = (ms: number): string => new Date(ms).toISOString()
