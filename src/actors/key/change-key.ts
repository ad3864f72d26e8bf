import type { Metadata } from '../../domain/events.ts'
import { type DecidedKey, decideKey, type KeyCommand, type KeyState, takesAway } from '../../domain/key.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { derivedId } from '../../domain/uuid.ts'
import { conflictRetriesMax, sealTriesMax } from '../../limits.ts'
import { type ExpectedRevision, Outage } from '../../log/event-log.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'
import { havingWritten } from '../outage-refusals.ts'
import { retryPauseMs } from '../stream/append-until-known.ts'
import { readFrom } from '../stream/read-stream.ts'
import type { Draft, KeyStreams } from './key-streams.ts'

/** What every command to a key works with. `onDoubt` is told when the store has stopped saying what is so. */
export type KeyWork = { readonly host: Host; readonly streams: KeyStreams; readonly onDoubt: () => void }

type Answer = Outcome<KeyState, CommandRefusal>

export type ChangeKey = Exclude<KeyCommand, { type: 'CreateKey' | 'RevokeKey' | 'RotateKey' }>

export type RotateKey = Extract<KeyCommand, { type: 'RotateKey' }>

/** `replacedId` is the successor that the new one replaces. `null`: there was none, or its use has ended this key. */
export type NamedSuccessor = { readonly key: KeyState; readonly replacedId: string | null }

/**
 * Every change of a key except its creation and its revocation (docs/protocol.md, "Taking a right away"). Granting a right
 * writes the key's event. Taking one away writes the event, then a fence in the readings, then answers. The change may be in
 * the log already, without a fence, because the node that began it died. So a fence must be seen or written even then.
 *
 * The key's stream is read first. In an outdated view the key may still be suspended although another node has resumed it,
 * and the answer would be wrong.
 */
export const changeKey = async (work: KeyWork, command: ChangeKey, asker: Asker): Promise<Answer> => {
  const changed = await decideAndAppend(work, command, asker)
  return changed.ok ? done(changed.value.after) : changed
}

/**
 * Names the key's next successor. The append expects the exact revision that the decision saw, so the successor before that
 * append is the one that is replaced, whatever other nodes write.
 */
export const rotateKey = async (
  work: KeyWork,
  command: RotateKey,
  asker: Asker,
): Promise<Outcome<NamedSuccessor, CommandRefusal>> => {
  const changed = await decideAndAppend(work, command, asker)
  if (!changed.ok) return changed
  const { before, after } = changed.value
  const isRepeat = before.rotation?.successorId === command.successorId
  const replacedId = isRepeat
    ? await havingWritten(() => successorBefore(work, command.successorId))
    : waitingSuccessor(before)
  return done({ key: after, replacedId })
}

const waitingSuccessor = ({ rotation }: KeyState): string | null =>
  rotation === null || rotation.superseded !== null ? null : rotation.successorId

/** The state holds only the latest successor. So a repeated command reads the one before from the log. */
const successorBefore = async ({ host, streams }: KeyWork, successorId: string): Promise<string | null> => {
  let before: string | null = null
  await readFrom(host.log, { stream: streams.keyStream, revision: 0 }, (events) => {
    for (const { type, data } of events) {
      if (type === 'KeyRotated' && data.successorId !== successorId) before = data.successorId
      if (type === 'KeySuperseded') before = null
    }
  })
  return before
}

type Changed = { readonly before: KeyState; readonly after: KeyState }

const decideAndAppend = async (
  work: KeyWork,
  command: ChangeKey | RotateKey,
  asker: Asker,
): Promise<Outcome<Changed, CommandRefusal>> => {
  const { host, streams, onDoubt } = work
  await streams.readKey()
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    const { key, limit } = streams
    const decision = decideKey(key, command, host.clock.now())
    if (!decision.ok) return decision
    if (key === null) return refused({ kind: 'key_not_found' })
    const [event] = decision.value
    if (event === undefined) {
      if (mayHaveTaken(command)) await fence(work, key.revision, askedBy(asker))
      return done({ before: key, after: streams.key ?? key })
    }
    const cellarLimit = host.projections.keys.effectiveLimit({ ...key, limit: null })
    const draft = { ...event, ...causeOf(work, command, { event, asker }) }
    const result = await streams.appendToKey(draft, { mustFinish: false, onDoubt })
    if (result.outcome === 'conflict') continue
    const written = key.revision + 1
    if (takesAway(event, key, limit, cellarLimit)) {
      await havingWritten(() => fence(work, written, { ...askedBy(asker), causationId: draft.id }))
    }
    return done({ before: key, after: streams.key ?? key })
  }
  return refused({ kind: 'busy' })
}

/** The end of a rotation follows from a reading, on whatever node it is heard of, and is one event. */
const causeOf = (
  { host, streams }: KeyWork,
  command: ChangeKey | RotateKey,
  { event, asker }: { readonly event: DecidedKey; readonly asker: Asker },
): { readonly id: string; readonly metadata: Metadata } => {
  if (command.type !== 'SupersedeKey') return { id: host.entropy.uuid(), metadata: askedBy(asker) }
  const causationId = command.readingId
  // One reading can end two keys: its own key's predecessor, and that one's.
  const id = derivedId(causationId, `${event.type} in ${streams.keyStream}`)
  return { id, metadata: { ...askedBy(asker), causationId } }
}

const mayHaveTaken = (command: ChangeKey | RotateKey): boolean =>
  command.type === 'SuspendKey' ||
  command.type === 'SetKeyLimit' ||
  command.type === 'SupersedeKey' ||
  (command.type === 'SetKeyExpiry' && command.expiresAt !== null)

/**
 * Returns only when a fence at or past that revision of the key lies in its readings, or when those have ended. Unlike a
 * seal it reads before it tries again: it must never be written after a seal, which is always the last event.
 */
const fence = async ({ host, streams, onDoubt }: KeyWork, keyRevision: number, metadata: Metadata): Promise<void> => {
  const draft = { id: host.entropy.uuid(), type: 'ReadingsFenced' as const, data: { keyRevision }, metadata }
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    if (streams.readings.sealed !== null || streams.readings.fencedAt >= keyRevision) return
    const expected = streams.readings.revision ?? 'none'
    const result = await streams.appendToReadings(draft, { expected, mustFinish: true, onDoubt })
    if (result.outcome === 'conflict') {
      streams.noteConflict(result.currentRevision)
      await streams.catchUp()
    } else streams.foldReadings(result.events)
  }
  throw new Outage(
    `Cannot fence "${streams.readingsStream}": others wrote ${conflictRetriesMax} times`,
    'unknown',
    'overloaded',
  )
}

/**
 * Ends a key: the readings are sealed first, then the key is revoked, then the answer. So no reading lies after
 * KeyRevoked, on any node, ever.
 */
export const revokeKey = async (work: KeyWork, reason: string, asker: Asker): Promise<Answer> => {
  const { streams } = work
  if (streams.key === null) return refused({ kind: 'key_not_found' })
  if (streams.key.revoked !== null) return done(streams.key)
  if (streams.readings.sealed === null) {
    const metadata = askedBy(asker)
    const draft = { id: work.host.entropy.uuid(), type: 'ReadingsSealed' as const, data: { reason }, metadata }
    if (!(await seal(work, draft))) await havingWritten(() => sealSuspended(work, draft))
  }
  return done(await havingWritten(() => finishRevocation(work, { mustFinish: true })))
}

type Seal = Draft<'ReadingsSealed'>

/**
 * Tried again at the revision that a conflict names, without reading what lies between: against a node that writes
 * without pause, reading first would lose the race again and again. Only its time can then lie a little before that of
 * the reading before it, by what the nodes' clocks differ. `false`: others wrote first, each time.
 */
const seal = async ({ streams, onDoubt }: KeyWork, draft: Seal): Promise<boolean> => {
  let expected: ExpectedRevision = streams.readings.revision ?? 'none'
  for (let tries = 0; tries < sealTriesMax; tries += 1) {
    const result = await streams.appendToReadings(draft, { expected, mustFinish: false, onDoubt })
    if (result.outcome !== 'conflict') {
      const [event] = result.events
      if (event?.type === 'ReadingsSealed') streams.noteSeal(event)
      return true
    }
    expected = result.currentRevision ?? 'none'
  }
  return false
}

/**
 * From a node that is farther from the store than one that writes without pause, a seal loses every time, and the other
 * hears nothing of that. So the key is suspended first, in its own stream, where nobody writes without pause: whoever
 * hears that stops. Should this node die in between, the key stays suspended, and the revocation is to be asked again.
 */
const sealSuspended = async (work: KeyWork, draft: Seal): Promise<void> => {
  const { host, streams } = work
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    await suspendFor(work, draft)
    if (await seal(work, draft)) return
    await host.pause(retryPauseMs(tries, host))
  }
  throw new Outage(`Cannot seal "${streams.readingsStream}": others write without pause`, 'unknown', 'overloaded')
}

/** One try, unless it is so already; whoever resumes the key meanwhile has it suspended again with the next. */
const suspendFor = async ({ host, streams, onDoubt }: KeyWork, { data, metadata }: Seal): Promise<void> => {
  await streams.readKey()
  const decision = decideKey(streams.key, { type: 'SuspendKey', reason: data.reason }, host.clock.now())
  const [event] = decision.ok ? decision.value : []
  if (event === undefined) return
  await streams.appendToKey({ ...event, id: host.entropy.uuid(), metadata }, { mustFinish: false, onDoubt })
}

/** A node may die between the seal and `KeyRevoked`. Then any node that meets the seal writes the second event. */
export const finishHalfDoneRevocation = async (work: KeyWork): Promise<void> => {
  const { key, readings } = work.streams
  if (readings.sealed === null || key === null || key.revoked !== null) return
  await finishRevocation(work, { mustFinish: false })
}

/**
 * Revokes a key whose readings are sealed, whoever sealed them: its node may have died in between. The event says who
 * revoked and why as the seal does, and takes its id from the seal's, so that two who finish write it once.
 */
const finishRevocation = async (
  { host, streams, onDoubt }: KeyWork,
  { mustFinish }: { readonly mustFinish: boolean },
): Promise<KeyState> => {
  const cause = streams.readings.sealed
  if (cause === null) throw new Error(`Cannot finish a revocation in "${streams.readingsStream}": it is not sealed`)
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    if (streams.key === null) throw new Error(`Cannot revoke "${streams.keyStream}": it was never created`)
    const command = { type: 'RevokeKey' as const, reason: cause.data.reason, sealId: cause.id }
    const decision = decideKey(streams.key, command, host.clock.now())
    if (!decision.ok) throw new Error(`Cannot revoke "${streams.keyStream}": ${decision.refusal.kind}`)
    const [event] = decision.value
    if (event === undefined) return streams.key
    const draft = {
      ...event,
      id: derivedId(cause.id, event.type),
      metadata: { ...cause.metadata, causationId: cause.id },
    }
    await streams.appendToKey(draft, { mustFinish, onDoubt })
  }
  throw new Outage(
    `Cannot revoke "${streams.keyStream}": others wrote ${conflictRetriesMax} times`,
    'unknown',
    'overloaded',
  )
}
