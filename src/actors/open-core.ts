import type { MachineClock } from '../clock.ts'
import type { RecordedEvent } from '../domain/events.ts'
import { foldedCategories, lifecycleCategories } from '../domain/stream-names.ts'
import type { Entropy } from '../entropy.ts'
import { drainLookMs, drainMsMax, heartbeatMs, sessionIdleMsDefault } from '../limits.ts'
import type { EventLog } from '../log/event-log.ts'
import type { RepeatsIndex } from '../log/repeats-index.ts'
import { createCellars } from './cellar/cellar-requests.ts'
import type { Core, FoldListener } from './core.ts'
import { Host } from './host.ts'
import { createKeys } from './key/key-requests.ts'
import { Node } from './node-actors.ts'
import { createOperators } from './operator/operator-requests.ts'
import type { PasswordHasher, PasswordJudge } from './operator/passwords.ts'
import { createSignIns } from './operator/sign-in-requests.ts'
import { type IndexTrouble, RememberedAppends } from './repeats/repeat-memory.ts'
import { beginFrom, type CheckpointParts, Checkpoints } from './saved-state/checkpoints.ts'
import { type Schedule, systemSchedule } from './schedule.ts'
import { follow } from './stream/follow.ts'
import { ClockWatch, type TimesTold } from './time/clock-watch.ts'

export type CoreParts = {
  readonly log: EventLog
  readonly clock: MachineClock
  readonly entropy: Entropy
  /** Default: none, and then no request with an `Idempotency-Key` is taken. */
  readonly idempotency?: RepeatsIndex
  /** Default: the process's own timers. */
  readonly schedule?: Schedule
  /** Told of every bug that an actor has answered for; must not throw. Default: written to stderr. */
  readonly onBug?: (bug: unknown) => void
  /**
   * Told once, should folding what the log delivers throw: who may do what can't be said any more, so the actors have
   * stopped for good. Default: thrown where nobody catches it, which ends the process as every such bug does.
   */
  readonly onBroken?: (bug: unknown) => void
  /**
   * Told when events begin to come from ahead of the clock, or late, or the clock leaps so far that nothing is purged by it,
   * and when that is over. Default: nobody is told.
   */
  readonly onTimes?: (told: TimesTold) => void
  /** A session ends after this time without use. Default: `sessionIdleMsDefault`. */
  readonly sessionIdleMs?: number
  /** Default: Argon2id. */
  readonly passwordHasher?: PasswordHasher
  /** Default: compares the password with names only. */
  readonly passwordJudge?: PasswordJudge
  /** Default: the log is folded from its beginning at every start. */
  readonly checkpoints?: CheckpointParts
}

export type OpenCore = Core & {
  /** What runs each minute: records expiries, finishes revocations and rotations that a node left half done, purges old readings. */
  sweep(): Promise<void>
  /** What is wrong with the index of idempotency keys; `null`: nothing. */
  indexTrouble(): IndexTrouble | null
}

/**
 * Folds the log, from the last checkpoint if there is one, finishes what another node or an earlier life of this one left half done, and serves.
 * @throws what the log throws if it can't be read.
 */
export const openCore = async (parts: CoreParts): Promise<OpenCore> => {
  const { log, entropy, schedule = systemSchedule, onBug = console.error, onBroken = throwToNobody } = parts
  const checkpointParts = parts.checkpoints ?? null
  const { projections, last } = await beginFrom(log, checkpointParts)
  const after = last?.position ?? null
  const host = new Host({ log, clock: parts.clock, entropy, schedule, projections, onBug })
  const remembered = parts.idempotency === undefined ? null : new RememberedAppends(host, parts.idempotency)
  host.remembered = remembered
  const onTimes = parts.onTimes ?? (() => {})
  // From what is read anyway: in an EventStoreDB that others fill, looking for the newest event alone takes long.
  let newest = last
  let isCaughtUp = false
  const purging = { newestMs: () => newest?.recordedAt ?? host.clock.now(), onTimes }
  const node = new Node(host, purging, parts.passwordHasher, parts.passwordJudge)
  node.sweeps.recall()
  node.rotations.recall()
  const checkpoints = new Checkpoints(host, checkpointParts, last)
  const clockWatch = new ClockWatch(host, onTimes)
  // Before the log is followed, so that what comes after the end that it reads is delivered.
  await remembered?.begin(last)
  const foldListeners = new Set<FoldListener>()
  const onEvents = (events: readonly RecordedEvent[]): void => {
    projections.fold(events)
    for (const event of events) node.hear(event)
    for (const listener of foldListeners) tell(listener, events, onBug)
  }
  const onBrokenFold = (bug: unknown): void => {
    node.stop()
    checkpoints.stop()
    onBroken(bug)
  }
  const following = await follow(host, {
    after,
    categories: foldedCategories,
    onEvents: (events) => {
      if (!isCaughtUp) newest = events.at(-1) ?? newest
      clockWatch.hear(events)
      onEvents(events)
      remembered?.fold(events)
      checkpoints.folded(events)
    },
    onBroken: onBrokenFold,
  })
  isCaughtUp = true
  clockWatch.caughtUp()
  remembered?.caughtUp()
  // What decides over keys, a second time and ahead: a flood of readings holds up the first subscription, and not this one.
  // Each fold counts an event once, whichever brings it; a checkpoint goes by the first alone, which leaves
  // nothing out, and so does what is remembered of Idempotency-Keys.
  const ahead =
    log.lags === true
      ? await follow(host, {
          after: projections.position,
          categories: lifecycleCategories,
          onEvents,
          onBroken: onBrokenFold,
        })
      : null
  let forgetBeat = (): void => {}
  const beat = (): void => {
    forgetBeat = schedule.after(heartbeatMs, beat)
    node.onBeat()
    remembered?.onBeat()
    clockWatch.onBeat()
  }
  forgetBeat = schedule.after(heartbeatMs, beat)
  // With the heart beating already: a store that never says whether it wrote would hold up the start for an hour.
  await node.sweeps.finishRevocations()
  await node.rotations.run()
  // Not waited for, since there may be much of either: an expired key is refused whether or not that was recorded, and what
  // retention takes away is hidden from nobody who serves.
  void node.sweeps.recordExpiries()
  void node.retention.run()

  const drain = async (): Promise<void> => {
    host.isStopping = true
    void node.signInRecords.tellRefused()
    for (let waitedMs = 0; waitedMs < drainMsMax && !node.isIdle; waitedMs += drainLookMs) {
      await host.pause(drainLookMs)
    }
    node.stop()
    forgetBeat()
    following.unsubscribe()
    ahead?.unsubscribe()
    await checkpoints.end()
    await remembered?.stop()
  }
  let draining: Promise<void> | null = null

  return {
    log,
    clock: host.clock,
    entropy,
    projections,
    cellars: createCellars(node.cellars),
    keys: createKeys(host, node),
    operators: {
      ...createOperators(host, node),
      ...createSignIns(host, node, parts.sessionIdleMs ?? sessionIdleMsDefault),
    },
    onFolded: (listener) => {
      foldListeners.add(listener)
      return () => foldListeners.delete(listener)
    },
    indexTrouble: () => remembered?.trouble ?? null,
    sweep: async () => {
      await node.sweeps.run()
      await node.rotations.run()
      await node.retention.run()
    },
    drain: () => {
      draining ??= drain()
      return draining
    },
  }
}

/** A bug of who listens spoils nothing that was folded. */
const tell = (listener: FoldListener, events: readonly RecordedEvent[], onBug: (bug: unknown) => void): void => {
  try {
    listener(events)
  } catch (bug) {
    onBug(bug)
  }
}

const throwToNobody = (bug: unknown): void => {
  // Not from here: a log forgives its subscribers what they throw.
  setImmediate(() => {
    throw bug
  })
}
