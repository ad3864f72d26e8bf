import type { RecordedEvent } from '../domain/events.ts'
import type { KeyState } from '../domain/key.ts'
import { categoryOf } from '../domain/streams.ts'
import type { Asker } from './core.ts'
import type { Host } from './host.ts'
import type { KeyActor } from './key-actor.ts'
import type { Registry } from './registry.ts'

/**
 * What nobody asks for and must be done all the same: a revocation is finished whose node died between the seal and
 * KeyRevoked, and an expiry is recorded that no request has noticed.
 */
export class Sweeps {
  readonly #host: Host
  readonly #keys: Registry<KeyActor>
  /** Keys whose readings are sealed and that were not known to be revoked: few, and only for as long as it is so. */
  readonly #halfRevoked = new Set<string>()

  constructor(host: Host, keys: Registry<KeyActor>) {
    this.#host = host
    this.#keys = keys
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'ReadingsSealed') this.#halfRevoked.add(keyIdOf(event.stream))
    if (event.type === 'KeyRevoked') this.#halfRevoked.delete(keyIdOf(event.stream))
  }

  async run(): Promise<void> {
    for (const keyId of [...this.#halfRevoked]) {
      if (this.#state(keyId)?.revoked === null) await this.#keys.get(keyId)?.mend().catch(told)
      if (this.#state(keyId)?.revoked !== null) this.#halfRevoked.delete(keyId)
    }
    for (const key of this.#host.projections.keys.list()) {
      if (!isDue(key, this.#host.clock.now())) continue
      const asker: Asker = { by: { kind: 'system' }, requestId: this.#host.entropy.uuid() }
      await this.#keys.get(key.keyId)?.change({ type: 'RecordKeyExpiry' }, asker).catch(told)
    }
  }

  #state(keyId: string): KeyState | null {
    return this.#host.projections.keys.get(keyId)
  }
}

const isDue = (key: KeyState, now: number): boolean =>
  key.revoked === null && key.expiresAt !== null && now >= key.expiresAt && key.expiryRecorded !== key.expiresAt

/** The actor has told the host of the bug; the next sweep tries again. */
const told = (): void => {}

const keyIdOf = (stream: string): string => stream.slice(categoryOf(stream).length + 1)
