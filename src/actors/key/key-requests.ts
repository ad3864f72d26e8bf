import { limitWithin, overlapWithin } from '../../domain/amounts.ts'
import { isExpiryToRecord, type KeyState } from '../../domain/key.ts'
import { isKeyId, keyIdBytes, makeKeyId } from '../../domain/key-format.ts'
import { type CommandRefusal, done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { cellarStream } from '../../domain/stream-names.ts'
import { invalidField, parseLabel, parseNote, parseReason } from '../../domain/text.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { CellarActor } from '../cellar/cellar-actor.ts'
import type { Asker, Keys, NewKey } from '../core-interface.ts'
import { busy, type Registry } from '../registry.ts'
import type { ChangeKey, NamedSuccessor } from './change-key.ts'
import type { KeyActor } from './key-actor.ts'
import type { ReadingAnswer } from './mailbox.ts'

type Actors = { readonly keys: Registry<KeyActor>; readonly cellars: Registry<CellarActor> }

export const createKeys = (context: ActorContext, actors: Actors): Keys => {
  const { keys, cellars } = actors
  const change = async (keyId: string, command: ChangeKey, asker: Asker): Promise<Outcome<KeyState, CommandRefusal>> =>
    keys.get(keyId)?.change(command, asker) ?? busy

  return {
    create: async (input, asker) => {
      const checked = parseNewKey(input)
      if (!checked.ok) return checked
      return cellars.get(cellarStream(input.cellar))?.createKey(checked.value, asker) ?? busy
    },
    rotate: rotateKey(context, actors),
    relabel: async (keyId, text, asker) => {
      const parsed = parseRelabelling(text)
      return parsed.ok ? change(keyId, { type: 'RelabelKey', ...parsed.value }, asker) : parsed
    },
    setLimit: async (keyId, input, asker) => {
      const limit = limitWithin(input)
      return limit.ok ? change(keyId, { type: 'SetKeyLimit', limit: limit.value }, asker) : limit
    },
    setExpiry: async (keyId, input, asker) => {
      const expiresAt = parseExpiresAt(input)
      if (!expiresAt.ok) return expiresAt
      const recorded = await recordPassedExpiry(context, actors, keyId)
      return recorded.ok ? change(keyId, { type: 'SetKeyExpiry', expiresAt: expiresAt.value }, asker) : recorded
    },
    suspend: async (keyId, text, asker) => {
      const reason = parseReason(text)
      return reason.ok ? change(keyId, { type: 'SuspendKey', reason: reason.value }, asker) : reason
    },
    resume: async (keyId, text, asker) => {
      const reason = parseReason(text)
      return reason.ok ? change(keyId, { type: 'ResumeKey', reason: reason.value }, asker) : reason
    },
    revoke: async (keyId, text, asker) => {
      const reason = parseReason(text)
      return reason.ok ? (keys.get(keyId)?.revoke(reason.value, asker) ?? busy) : reason
    },
    accept: (keyId, readings, requestId) => keys.get(keyId)?.accept(readings, requestId) ?? noRoom(context),
    acceptIdempotent: (keyId, readings, request) =>
      keys.get(keyId)?.acceptIdempotent(readings, request) ?? noRoom(context),
    check: (keyId, count) => keys.get(keyId)?.check(count) ?? noRoom(context),
    knowsIdempotencyKey: (keyId, keyHash) => keys.get(keyId)?.knowsIdempotencyKey(keyHash) ?? false,
    usage: (keyId, heardTo) => keys.get(keyId)?.usage(heardTo) ?? null,
  }
}

const rotateKey =
  (context: ActorContext, { keys, cellars }: Actors): Keys['rotate'] =>
  async (keyId, { overlapMs: typed, successorId: drawn }, asker) => {
    const overlapMs = overlapWithin(typed)
    if (!overlapMs.ok) return overlapMs
    if (drawn !== undefined && !isKeyId(drawn)) return notOurForm
    const key = context.projections.keys.get(keyId)
    if (key === null) return refused({ kind: 'key_not_found' })
    const name = async (successorId: string): Promise<Outcome<NamedSuccessor, CommandRefusal>> =>
      keys.get(keyId)?.rotate({ type: 'RotateKey', successorId, overlapMs: overlapMs.value }, asker) ?? busy
    const successorId = drawn ?? makeKeyId(context.entropy.bytes(keyIdBytes))
    const created = (await cellars.get(cellarStream(key.cellar))?.rotateKey({ successorId, name }, asker)) ?? busy
    if (!created.ok) return created
    const { replacedId, ...made } = created.value
    return done({ ...made, replaced: unusedFollower(context, keyId, replacedId) })
  }

/**
 * The replaced successor, so that the admin can revoke it. `null` if there is none, if it was used or revoked, or if an
 * unrelated key has its id.
 */
const unusedFollower = ({ projections }: ActorContext, keyId: string, successorId: string | null): KeyState | null => {
  const key = successorId === null ? null : projections.keys.get(successorId)
  const isUnused =
    key?.predecessorId === keyId && key.revoked === null && projections.readings.usage(key.keyId) === null
  return isUnused ? key : null
}

/** Called before a new expiry is set. Otherwise the history would not show that the key was expired. */
const recordPassedExpiry = async (
  context: ActorContext,
  { keys }: Actors,
  keyId: string,
): Promise<Outcome<KeyState | null, CommandRefusal>> => {
  const key = context.projections.keys.get(keyId)
  if (key === null || !isExpiryToRecord(key, context.clock.now())) return done(key)
  return keys.get(keyId)?.change({ type: 'RecordKeyExpiry' }, systemAsker(context)) ?? busy
}

const notOurForm = invalidField('form', 'The form was not valid. Send it again.')

const noRoom = (context: ActorContext): Promise<ReadingAnswer> => {
  const refusal: ReadingRefusal = { kind: context.isStopping ? 'store_unavailable' : 'overloaded' }
  return Promise.resolve(refused(refusal))
}

const parseNewKey = (input: NewKey): Outcome<NewKey, CommandRefusal> => {
  const label = parseLabel(input.label)
  if (!label.ok) return label
  const note = parseNote(input.note)
  if (!note.ok) return note
  const limit = limitWithin(input.limit)
  if (!limit.ok) return limit
  const expiresAt = parseExpiresAt(input.expiresAt)
  if (!expiresAt.ok) return expiresAt
  const { cellar, keyId } = input
  if (keyId !== undefined && !isKeyId(keyId)) return notOurForm
  const key = { cellar, label: label.value, note: note.value, limit: limit.value, expiresAt: expiresAt.value }
  return done(keyId === undefined ? key : { ...key, keyId })
}

type Relabelling = { readonly label?: string; readonly note?: string }

const parseRelabelling = (text: Relabelling): Outcome<Relabelling, CommandRefusal> => {
  const label = text.label === undefined ? done(undefined) : parseLabel(text.label)
  if (!label.ok) return label
  if (label.value === '') return invalidField('label', 'The label must not be blank.')
  const note = text.note === undefined ? done(undefined) : parseNote(text.note)
  if (!note.ok) return note
  return done({
    ...(label.value === undefined ? {} : { label: label.value }),
    ...(note.value === undefined ? {} : { note: note.value }),
  })
}

const parseExpiresAt = (expiresAt: number | null): Outcome<number | null, CommandRefusal> =>
  expiresAt === null || (Number.isSafeInteger(expiresAt) && expiresAt >= 0)
    ? done(expiresAt)
    : invalidField('expiresAt', 'The expiry must be an instant after 1970.')
