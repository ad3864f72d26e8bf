import type { RecordedEvent } from '../../domain/events.ts'
import { isExpiryToRecord, type KeyState } from '../../domain/key.ts'
import { keyIdOf } from '../../domain/stream-names.ts'
import { heartbeatMs } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { Registry } from '../registry.ts'
import type { KeyActor } from './key-actor.ts'

/** After this time, another node finishes a half-done revocation. It must be a multiple of `heartbeatMs`. */
export const revocationFinishMs = 2_000

export class Sweeps {
  readonly #context: ActorContext
  readonly #keys: Registry<KeyActor>
  /** By key id: the heartbeat of the seal or of the last try. Infinity during a try, so that no second one begins. */
  readonly #halfRevoked = new Map<string, number>()
  #recording: Promise<void> | null = null

  constructor(context: ActorContext, keys: Registry<KeyActor>) {
    this.#context = context
    this.#keys = keys
  }

  /** For seals before the start: the subscription delivers only later events. */
  recall(): void {
    const { keys, readings } = this.#context.projections
    for (const { keyId, revoked } of keys.list()) {
      const isSealed = readings.barriers(keyId).at(-1)?.type === 'ReadingsSealed'
      if (isSealed && revoked === null) this.#halfRevoked.set(keyId, this.#context.beat)
    }
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'ReadingsSealed') this.#halfRevoked.set(keyIdOf(event.stream), this.#context.beat)
    if (event.type === 'KeyRevoked') this.#halfRevoked.delete(keyIdOf(event.stream))
  }

  /** Waits some beats, because the node that wrote the seal probably finishes the revocation itself. */
  onBeat(): void {
    const before = this.#context.beat - revocationFinishMs / heartbeatMs
    for (const [keyId, beat] of this.#halfRevoked) if (beat <= before) void this.#finish(keyId)
  }

  async run(): Promise<void> {
    await this.finishRevocations()
    await this.recordExpiries()
  }

  async finishRevocations(): Promise<void> {
    for (const keyId of [...this.#halfRevoked.keys()]) await this.#finish(keyId)
  }

  /** One after the other: after a long stop, many appends at once would delay other requests. */
  recordExpiries(): Promise<void> {
    this.#recording ??= this.#recordExpiries().finally(() => {
      this.#recording = null
    })
    return this.#recording
  }

  async #recordExpiries(): Promise<void> {
    for (const key of this.#context.projections.keys.list()) {
      if (!isExpiryToRecord(key, this.#context.clock.now())) continue
      await this.#keys.get(key.keyId)?.change({ type: 'RecordKeyExpiry' }, systemAsker(this.#context)).catch(ignoreBug)
    }
  }

  async #finish(keyId: string): Promise<void> {
    this.#halfRevoked.set(keyId, Number.POSITIVE_INFINITY)
    if (this.#state(keyId)?.revoked === null) await this.#keys.get(keyId)?.catchUp().catch(ignoreBug)
    if (this.#state(keyId)?.revoked === null) this.#halfRevoked.set(keyId, this.#context.beat)
    else this.#halfRevoked.delete(keyId)
  }

  #state(keyId: string): KeyState | null {
    return this.#context.projections.keys.get(keyId)
  }
}

/** The actor has reported the bug. The next sweep tries again. */
const ignoreBug = (): void => {}
