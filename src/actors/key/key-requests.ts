import { limitWithin, overlapWithin } from '../../domain/amounts.ts'
import { isExpiryToRecord, type KeyState } from '../../domain/key.ts'
import { isKeyId, keyIdBytes, makeKeyId } from '../../domain/key-format.ts'
import { type CommandRefusal, done, type Outcome, type ReadingRefusal, refused } from '../../domain/refusal.ts'
import { cellarStream } from '../../domain/stream-names.ts'
import { invalidField, parseLabel, parseNote, parseReason } from '../../domain/text.ts'
import type { CellarActor } from '../cellar/cellar-actor.ts'
import { busy } from '../cellar/cellar-requests.ts'
import type { Asker, Keys, NewKey } from '../core.ts'
import type { Host } from '../host.ts'
import type { Registry } from '../registry.ts'
import type { KeyActor } from './key-actor.ts'
import type { ReadingAnswer } from './mailbox.ts'

type Actors = { readonly keys: Registry<KeyActor>; readonly cellars: Registry<CellarActor> }

/** The commands to keys, checked as those to cellars are, and the way of a reading to its key's actor. */
export const createKeys = (host: Host, { keys, cellars }: Actors): Keys => ({
  create: async (input, asker) => {
    const checked = parseNewKey(input)
    if (!checked.ok) return checked
    return cellars.get(cellarStream(input.cellar))?.createKey(checked.value, asker) ?? busy
  },

  rotate: async (keyId, { overlapMs: typed, successorId }, asker) => {
    const overlapMs = overlapWithin(typed)
    if (!overlapMs.ok) return overlapMs
    if (successorId !== undefined && !isKeyId(successorId)) return foreignForm
    const key = host.projections.keys.get(keyId)
    if (key === null) return refused({ kind: 'key_not_found' })
    const name = async (successorId: string): Promise<Outcome<KeyState, CommandRefusal>> =>
      keys.get(keyId)?.change({ type: 'RotateKey', successorId, overlapMs: overlapMs.value }, asker) ?? busy
    const chance = host.entropy.bytes(keyIdBytes)
    const naming = { successorId: successorId ?? makeKeyId(chance), name }
    return cellars.get(cellarStream(key.cellar))?.rotateKey(naming, asker) ?? busy
  },

  relabel: async (keyId, text, asker) => {
    const parsed = parseRelabelling(text)
    if (!parsed.ok) return parsed
    return keys.get(keyId)?.change({ type: 'RelabelKey', ...parsed.value }, asker) ?? busy
  },

  setLimit: async (keyId, input, asker) => {
    const limit = limitWithin(input)
    if (!limit.ok) return limit
    return keys.get(keyId)?.change({ type: 'SetKeyLimit', limit: limit.value }, asker) ?? busy
  },

  setExpiry: async (keyId, input, asker) => {
    const expiresAt = parseExpiresAt(input)
    if (!expiresAt.ok) return expiresAt
    const [actor, key] = [keys.get(keyId), host.projections.keys.get(keyId)]
    if (actor === null) return busy
    // One that has passed was in force, and is told of before it is another.
    if (key !== null && isExpiryToRecord(key, host.clock.now())) {
      const system: Asker = { by: { kind: 'system' }, requestId: host.entropy.uuid() }
      const recorded = await actor.change({ type: 'RecordKeyExpiry' }, system)
      if (!recorded.ok) return recorded
    }
    return actor.change({ type: 'SetKeyExpiry', expiresAt: expiresAt.value }, asker)
  },

  suspend: async (keyId, text, asker) => {
    const reason = parseReason(text)
    if (!reason.ok) return reason
    return keys.get(keyId)?.change({ type: 'SuspendKey', reason: reason.value }, asker) ?? busy
  },

  resume: async (keyId, text, asker) => {
    const reason = parseReason(text)
    if (!reason.ok) return reason
    return keys.get(keyId)?.change({ type: 'ResumeKey', reason: reason.value }, asker) ?? busy
  },

  revoke: async (keyId, text, asker) => {
    const reason = parseReason(text)
    if (!reason.ok) return reason
    return keys.get(keyId)?.revoke(reason.value, asker) ?? busy
  },

  accept: (keyId, readings, requestId) => keys.get(keyId)?.accept(readings, requestId) ?? noRoom(host),

  acceptKeyed: (keyId, readings, request) => keys.get(keyId)?.acceptKeyed(readings, request) ?? noRoom(host),

  knowsIdempotencyKey: (keyId, keyHash) => keys.get(keyId)?.knowsIdempotencyKey(keyHash) ?? false,

  usage: (keyId, heardTo) => keys.get(keyId)?.usage(heardTo) ?? null,
})

const foreignForm = invalidField('form', 'The form was not filled in here. Send this one.')

const noRoom = (host: Host): Promise<ReadingAnswer> => {
  const refusal: ReadingRefusal = { kind: host.isStopping ? 'store_unavailable' : 'overloaded' }
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
  if (keyId !== undefined && !isKeyId(keyId)) return foreignForm
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
