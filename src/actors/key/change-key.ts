import type { Metadata } from '../../domain/events.ts'
import { type DecidedKey, decideKey, type KeyCommand, type KeyState, takesAway } from '../../domain/key.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { derivedId } from '../../domain/uuid.ts'
import { conflictRetriesMax } from '../../limits.ts'
import { type ExpectedRevision, Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'
import { havingWritten } from '../outage-refusals.ts'
import { retryPauseMs } from '../stream/append-until-known.ts'
import { readFrom } from '../stream/read-stream.ts'
import type { Draft, KeyStreams } from './key-streams.ts'

/** After this number of tries to seal, a revocation first suspends the key, so that busy nodes stop writing. */
export const sealTriesMax = 8

/** `onDoubt`: it is unknown whether an append was stored. The actor then refuses readings, which would only wait. */
export type KeyWork = { readonly context: ActorContext; readonly streams: KeyStreams; readonly onDoubt: () => void }

type Answer = Outcome<KeyState, CommandRefusal>

export type ChangeKey = Exclude<KeyCommand, { type: 'CreateKey' | 'RevokeKey' | 'RotateKey' }>

export type RotateKey = Extract<KeyCommand, { type: 'RotateKey' }>

export type NamedSuccessor = { readonly key: KeyState; readonly replacedId: string | null }

export const changeKey = async (work: KeyWork, command: ChangeKey, asker: Asker): Promise<Answer> => {
  const changed = await decideAndAppend(work, command, asker)
  return changed.ok ? done(changed.value.after) : changed
}

/**
 * The append succeeds only at the revision on which the command was decided. So `before` shows which earlier successor is
 * replaced.
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

/**
 * For a repeated command: the unused successor before `successorId`. The state holds only the latest, so this reads the
 * stream.
 */
const successorBefore = async ({ context, streams }: KeyWork, successorId: string): Promise<string | null> => {
  let before: string | null = null
  await readFrom(context.log, { stream: streams.keyStream, revision: 0 }, (events) => {
    for (const { type, data } of events) {
      if (type === 'KeyRotated' && data.successorId !== successorId) before = data.successorId
      if (type === 'KeySuperseded') before = null
    }
  })
  return before
}

type Changed = { readonly before: KeyState; readonly after: KeyState }

/**
 * If the event takes a right away, a fence must follow (docs/protocol.md, "Taking a right away"). A fence also follows if
 * the change was made before: the node that made it can have died before its fence.
 */
const decideAndAppend = async (
  work: KeyWork,
  command: ChangeKey | RotateKey,
  asker: Asker,
): Promise<Outcome<Changed, CommandRefusal>> => {
  const { context, streams, onDoubt } = work
  // A command that changes nothing appends nothing, so no conflict would show that this node's state is outdated.
  await streams.readKey()
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    const { key, limit } = streams
    const decision = decideKey(key, command, context.clock.now())
    if (!decision.ok) return decision
    if (key === null) return refused({ kind: 'key_not_found' })
    const [event] = decision.value
    if (event === undefined) {
      if (mayTakeAway(command)) await fence(work, key.revision, askedBy(asker))
      return done({ before: key, after: streams.key ?? key })
    }
    const cellarLimit = context.projections.keys.effectiveLimit({ ...key, limit: null })
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

/**
 * Several nodes can end the same rotation. The id is derived from the successor's first reading, so they write one event.
 */
const causeOf = (
  { context, streams }: KeyWork,
  command: ChangeKey | RotateKey,
  { event, asker }: { readonly event: DecidedKey; readonly asker: Asker },
): { readonly id: string; readonly metadata: Metadata } => {
  if (command.type !== 'SupersedeKey') return { id: context.entropy.uuid(), metadata: askedBy(asker) }
  const causationId = command.readingId
  // One reading can end several keys of a chain of rotations.
  const id = derivedId(causationId, `${event.type} in ${streams.keyStream}`)
  return { id, metadata: { ...askedBy(asker), causationId } }
}

const mayTakeAway = (command: ChangeKey | RotateKey): boolean =>
  command.type === 'SuspendKey' ||
  command.type === 'SetKeyLimit' ||
  command.type === 'SupersedeKey' ||
  (command.type === 'SetKeyExpiry' && command.expiresAt !== null)

/** A fence must never follow a seal. Other nodes' events can contain one, so they are read after a conflict. */
const fence = async (
  { context, streams, onDoubt }: KeyWork,
  keyRevision: number,
  metadata: Metadata,
): Promise<void> => {
  const draft = { id: context.entropy.uuid(), type: 'ReadingsFenced' as const, data: { keyRevision }, metadata }
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    if (streams.readings.sealed !== null || streams.readings.fencedAt >= keyRevision) return
    const expected = streams.readings.revision ?? 'none'
    const result = await streams.appendToReadings(draft, { expected, mustFinish: true, onDoubt })
    if (result.outcome === 'conflict') {
      streams.noteConflict(result.currentRevision)
      await streams.catchUp()
    } else streams.foldReadings(result.events)
  }
  throw lostEveryTry(`fence "${streams.readingsStream}"`)
}

/** The seal comes before `KeyRevoked`, so that no reading follows `KeyRevoked` in the log. */
export const revokeKey = async (work: KeyWork, reason: string, asker: Asker): Promise<Answer> => {
  const { streams } = work
  if (streams.key === null) return refused({ kind: 'key_not_found' })
  if (streams.key.revoked !== null) return done(streams.key)
  if (streams.readings.sealed === null) {
    const metadata = askedBy(asker)
    const draft = { id: work.context.entropy.uuid(), type: 'ReadingsSealed' as const, data: { reason }, metadata }
    if (!(await seal(work, draft))) await havingWritten(() => suspendAndSeal(work, draft))
  }
  return done(await havingWritten(() => finishRevocation(work, { mustFinish: true })))
}

type Seal = Draft<'ReadingsSealed'>

/**
 * False if other nodes wrote first at each try. A retry expects the revision that the conflict names: reading the other
 * node's events first would take longer and meet the next conflict. So their times are unknown. If that node's clock is
 * ahead, the seal's time can be a little before its last reading's.
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
 * A busy node closer to the store can win every append against the seal. `KeySuspended` stops it: it goes to the key's own
 * stream, to which nodes append rarely. If this node dies before the seal, the key must be revoked again.
 */
const suspendAndSeal = async (work: KeyWork, draft: Seal): Promise<void> => {
  const { context, streams } = work
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    // Before each try, because another admin can have resumed the key.
    await trySuspending(work, draft)
    if (await seal(work, draft)) return
    await context.pause(retryPauseMs(tries, context))
  }
  throw lostEveryTry(`seal "${streams.readingsStream}"`)
}

const trySuspending = async ({ context, streams, onDoubt }: KeyWork, { data, metadata }: Seal): Promise<void> => {
  await streams.readKey()
  const decision = decideKey(streams.key, { type: 'SuspendKey', reason: data.reason }, context.clock.now())
  const [event] = decision.ok ? decision.value : []
  if (event === undefined) return
  await streams.appendToKey({ ...event, id: context.entropy.uuid(), metadata }, { mustFinish: false, onDoubt })
}

/** Needed if the node that wrote the seal has died before it appended `KeyRevoked`. */
export const finishHalfDoneRevocation = async (work: KeyWork): Promise<void> => {
  const { key, readings } = work.streams
  if (readings.sealed === null || key === null || key.revoked !== null) return
  await finishRevocation(work, { mustFinish: false })
}

/** The id is derived from the seal's, so several nodes that finish the same revocation write one event. */
const finishRevocation = async (
  { context, streams, onDoubt }: KeyWork,
  { mustFinish }: { readonly mustFinish: boolean },
): Promise<KeyState> => {
  const cause = streams.readings.sealed
  if (cause === null) throw new Error(`Cannot finish a revocation in "${streams.readingsStream}": it is not sealed`)
  for (let tries = 0; tries < conflictRetriesMax; tries += 1) {
    if (streams.key === null) throw new Error(`Cannot revoke "${streams.keyStream}": it was never created`)
    const command = { type: 'RevokeKey' as const, reason: cause.data.reason, sealId: cause.id }
    const decision = decideKey(streams.key, command, context.clock.now())
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
  throw lostEveryTry(`revoke "${streams.keyStream}"`)
}

const lostEveryTry = (action: string): Outage =>
  new Outage(`Cannot ${action}: other nodes wrote first ${conflictRetriesMax} times`, 'unknown', 'overloaded')
