import type { RecordedEvent } from '../../domain/events.ts'
import { isExpiryToRecord, type KeyState } from '../../domain/key.ts'
import { keyIdOf } from '../../domain/stream-names.ts'
import { heartbeatMs, revocationFinishMs } from '../../limits.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'
import type { Registry } from '../registry.ts'
import type { KeyActor } from './key-actor.ts'

/**
 * What nobody asks for and must be done all the same: a revocation is finished whose node died between the seal and
 * KeyRevoked, and an expiry is recorded that no request has noticed.
 */
export class Sweeps {
  readonly #host: Host
  readonly #keys: Registry<KeyActor>
  /**
   * Keys whose readings are sealed and that were not known to be revoked: few, and only for as long as it is so. With the
   * heartbeat in which the seal was heard of, or in which the last try to finish it ended; without end while one is made.
   */
  readonly #halfRevoked = new Map<string, number>()
  #recording: Promise<void> | null = null

  constructor(host: Host, keys: Registry<KeyActor>) {
    this.#host = host
    this.#keys = keys
  }

  /** What it would have heard of, had it not been folded in an earlier life. */
  recall(): void {
    const { keys, readings } = this.#host.projections
    for (const { keyId, revoked } of keys.list()) {
      const isSealed = readings.barriers(keyId).at(-1)?.type === 'ReadingsSealed'
      if (isSealed && revoked === null) this.#halfRevoked.set(keyId, this.#host.beat)
    }
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'ReadingsSealed') this.#halfRevoked.set(keyIdOf(event.stream), this.#host.beat)
    if (event.type === 'KeyRevoked') this.#halfRevoked.delete(keyIdOf(event.stream))
  }

  /** Once each heartbeat: whoever sealed it would have finished long ago if it lived. */
  onBeat(): void {
    const before = this.#host.beat - revocationFinishMs / heartbeatMs
    for (const [keyId, beat] of this.#halfRevoked) if (beat <= before) void this.#finish(keyId)
  }

  async run(): Promise<void> {
    await this.finishRevocations()
    await this.recordExpiries()
  }

  async finishRevocations(): Promise<void> {
    for (const keyId of [...this.#halfRevoked.keys()]) await this.#finish(keyId)
  }

  /** One after the other, each with its own commit: of a service that was away for long there may be many. */
  recordExpiries(): Promise<void> {
    this.#recording ??= this.#recordExpiries().finally(() => {
      this.#recording = null
    })
    return this.#recording
  }

  async #recordExpiries(): Promise<void> {
    for (const key of this.#host.projections.keys.list()) {
      if (!isExpiryToRecord(key, this.#host.clock.now())) continue
      const asker: Asker = { by: { kind: 'system' }, requestId: this.#host.entropy.uuid() }
      await this.#keys.get(key.keyId)?.change({ type: 'RecordKeyExpiry' }, asker).catch(told)
    }
  }

  async #finish(keyId: string): Promise<void> {
    this.#halfRevoked.set(keyId, Number.POSITIVE_INFINITY)
    if (this.#state(keyId)?.revoked === null) await this.#keys.get(keyId)?.catchUp().catch(told)
    if (this.#state(keyId)?.revoked === null) this.#halfRevoked.set(keyId, this.#host.beat)
    else this.#halfRevoked.delete(keyId)
  }

  #state(keyId: string): KeyState | null {
    return this.#host.projections.keys.get(keyId)
  }
}

/** The actor has told the host of the bug; the next sweep tries again. */
const told = (): void => {}
