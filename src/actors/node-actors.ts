import type { RecordedEvent } from '../domain/events.ts'
import { categoryOf, keyIdOf } from '../domain/stream-names.ts'
import { expirySweepMs, heartbeatMs, requestWaitMsMax } from '../limits.ts'
import { CellarActor } from './cellar/cellar-actor.ts'
import { type Purging, Retention } from './cellar/reading-retention.ts'
import type { Host } from './host.ts'
import { KeyActor } from './key/key-actor.ts'
import { Sweeps } from './key/key-sweeps.ts'
import { Rotations } from './key/rotations.ts'
import { OperatorActor, SetupActor } from './operator/operator-actor.ts'
import { type PasswordHasher, type PasswordJudge, Passwords } from './operator/passwords.ts'
import { SignInRecords } from './operator/sign-in-records.ts'
import { type Actor, Registry } from './registry.ts'

/** All actors of one service node, and what happens to all of them at once. */
export class Node {
  readonly keys: Registry<KeyActor>
  readonly cellars: Registry<CellarActor>
  readonly operators: Registry<OperatorActor>
  readonly setup: Registry<SetupActor>
  readonly passwords: Passwords
  readonly signInRecords: SignInRecords
  readonly sweeps: Sweeps
  readonly retention: Retention
  readonly rotations: Rotations
  readonly #host: Host

  constructor(host: Host, purging: Purging, hasher?: PasswordHasher, judge?: PasswordJudge) {
    this.#host = host
    this.keys = new Registry(host, (keyId) => new KeyActor(keyId, host))
    this.cellars = new Registry(host, (stream) => new CellarActor(stream, host))
    this.operators = new Registry(host, (stream) => new OperatorActor(stream, host))
    this.setup = new Registry(host, () => new SetupActor(host))
    this.passwords = new Passwords(host, hasher, judge)
    this.signInRecords = new SignInRecords(host)
    this.sweeps = new Sweeps(host, this.keys)
    this.rotations = new Rotations(host, this.keys)
    this.retention = new Retention(host, this.cellars, purging)
  }

  get isIdle(): boolean {
    return this.passwords.isIdle && this.signInRecords.isIdle && this.#registries.every((registry) => registry.isIdle)
  }

  /** An event that was written by this node or another. */
  hear(event: RecordedEvent): void {
    if (event.type === 'ReadingAccepted') {
      this.rotations.hearReading(event.stream)
      return
    }
    this.sweeps.hear(event)
    this.rotations.hear(event)
    this.retention.hear(event)
    const category = categoryOf(event.stream)
    if (category === 'key' || category === 'readings') {
      this.keys.alive(keyIdOf(event.stream))?.hear(event)
    }
    if (category === 'cellar' && event.type !== 'ReadingsPurged') this.#host.limitsEpoch += 1
  }

  onBeat(): void {
    this.#host.beat += 1
    const overdue = this.#host.beat - requestWaitMsMax / heartbeatMs
    for (const registry of this.#registries) registry.onBeat({ overdue })
    this.passwords.answerOverdue(overdue)
    this.signInRecords.onBeat(overdue)
    this.sweeps.onBeat()
    this.rotations.onBeat()
    if (this.#host.beat % (expirySweepMs / heartbeatMs) !== 0) return
    void this.sweeps.run()
    void this.retention.run()
  }

  /** Settles whatever waits. What is out is not tried again: whoever asked was told that its outcome is unknown. */
  stop(): void {
    this.#host.isStopping = true
    this.#host.gaveUp = true
    for (const registry of this.#registries) registry.stop()
    this.passwords.stop()
    this.signInRecords.stop()
  }

  get #registries(): readonly Registry<Actor>[] {
    return [this.keys, this.cellars, this.operators, this.setup]
  }
}
