import type { RecordedEvent } from '../../domain/events.ts'
import { followerOf, type KeyState } from '../../domain/key.ts'
import { keyIdOf, readingsStream } from '../../domain/stream-names.ts'
import { tailEventsMax } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'
import type { Registry } from '../registry.ts'
import type { KeyActor } from './key-actor.ts'

/**
 * The end of a rotation: once the successor is used, the old key is told to end. Every node does it as soon as it hears of
 * the successor's first reading, and what it meets of the others shows it that it is done. Whoever dies in between leaves
 * it to any other node, or to its own next start; who fails tries again with each heartbeat.
 */
export class Rotations {
  readonly #host: Host
  readonly #keys: Registry<KeyActor>
  /** Old keys, by the stream of the readings that their successors are to write: few of all keys. */
  readonly #awaited = new Map<string, string>()
  /** Old keys whose successors were used, and whether one is being told of it. */
  readonly #due = new Map<string, 'waits' | 'under_way'>()
  /** Not before the log was folded: most of what is heard until then was ended long ago. */
  #hasBegun = false

  constructor(host: Host, keys: Registry<KeyActor>) {
    this.#host = host
    this.#keys = keys
  }

  /** What it would have heard of, had it not been folded in an earlier life. */
  recall(): void {
    for (const { keyId, revoked, rotation } of this.#host.projections.keys.list()) {
      if (rotation === null || rotation.superseded !== null) continue
      if (!this.#isUsed(rotation.successorId)) this.#awaited.set(readingsStream(rotation.successorId), keyId)
      else if (revoked === null) this.#due.set(keyId, 'waits')
    }
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'KeyRotated') this.#awaited.set(readingsStream(event.data.successorId), keyIdOf(event.stream))
    if (event.type !== 'KeySuperseded' && event.type !== 'KeyRevoked') return
    const keyId = keyIdOf(event.stream)
    if (event.type === 'KeySuperseded' && !this.#hasBegun) this.#due.delete(keyId)
    this.#passOn(keyId)
  }

  /** Runs for every reading of every key. */
  hearReading(stream: string): void {
    if (this.#awaited.size > 0) this.#used(stream)
  }

  onBeat(): void {
    if (this.#hasBegun) for (const keyId of this.#due.keys()) void this.#end(keyId)
  }

  async run(): Promise<void> {
    this.#hasBegun = true
    for (const keyId of [...this.#due.keys()]) await this.#end(keyId)
  }

  #used(stream: string): void {
    const keyId = this.#awaited.get(stream)
    if (keyId === undefined) return
    this.#awaited.delete(stream)
    if (!this.#due.has(keyId)) this.#due.set(keyId, 'waits')
    if (this.#hasBegun) void this.#end(keyId)
  }

  /** What a successor that was never used has of its own: one that was. A revoked one is told nothing, and passes it on. */
  #passOn(keyId: string): void {
    if (this.#isUsed(keyId)) this.#used(readingsStream(keyId))
  }

  async #end(keyId: string): Promise<void> {
    if (this.#due.get(keyId) !== 'waits') return
    const successorId = this.#usedSuccessor(keyId)
    if (successorId === null) {
      this.#due.delete(keyId)
      return
    }
    this.#due.set(keyId, 'under_way')
    try {
      if (await this.#supersede(keyId, successorId)) this.#due.delete(keyId)
      else this.#due.set(keyId, 'waits')
    } catch (error) {
      this.#due.set(keyId, 'waits')
      if (!(error instanceof Outage)) this.#host.onBug(error)
    }
  }

  /**
   * Also of a key that was told already: whoever told it may have died before the fence, which is then seen to.
   * `null`: there is nothing to end, or another successor, which was not used yet, has taken the
   * place of the one that was.
   */
  #usedSuccessor(keyId: string): string | null {
    const successorId = this.#follower(keyId)
    return successorId !== null && this.#isUsed(successorId) ? successorId : null
  }

  /** `false`: the store did not let it. */
  async #supersede(keyId: string, successorId: string): Promise<boolean> {
    const first = await this.#firstReading(successorId)
    if (first === null) return false
    const command = { type: 'SupersedeKey' as const, successorId, usedAt: first.recordedAt, readingId: first.id }
    const asker: Asker = { by: { kind: 'system' }, requestId: this.#host.entropy.uuid() }
    const ended = await this.#keys.get(keyId)?.change(command, asker)
    if (ended === undefined) return false
    if (ended.ok) return true
    if (ended.refusal.kind !== 'key_is_revoked') return false
    this.#passOn(keyId)
    return true
  }

  /** With that key; if it has none, with the one that has taken its place. */
  async #firstReading(keyId: string): Promise<RecordedEvent | null> {
    for (let next: string | null = keyId; next !== null; next = this.#standIn(next)) {
      const found = await this.#firstReadingIn(readingsStream(next))
      if (found !== null) return found
    }
    return null
  }

  /** Fences of another rotation or change may come first. */
  async #firstReadingIn(stream: string): Promise<RecordedEvent | null> {
    let from = 0
    while (true) {
      const page = await this.#host.log.read(stream, { from, limit: tailEventsMax })
      const found = page.find(({ type }) => type === 'ReadingAccepted')
      if (found !== undefined) return found
      const last = page.at(-1)
      if (last === undefined || page.length < tailEventsMax) return null
      from = last.revision + 1
    }
  }

  #isUsed(keyId: string): boolean {
    for (let next: string | null = keyId; next !== null; next = this.#standIn(next)) {
      // The latter may be heard of before the reading that it tells of.
      if (this.#host.projections.readings.usage(next) !== null || this.#isSuperseded(next)) return true
    }
    return false
  }

  #isSuperseded(keyId: string): boolean {
    const rotation = this.#state(keyId)?.rotation ?? null
    return rotation !== null && rotation.superseded !== null
  }

  /** The key whose use counts as that of this one, which ends or is revoked. Each was made after the one before: it ends. */
  #standIn(keyId: string): string | null {
    const isRevoked = (this.#state(keyId)?.revoked ?? null) !== null
    return isRevoked || this.#isSuperseded(keyId) ? this.#follower(keyId) : null
  }

  #follower(keyId: string): string | null {
    const key = this.#state(keyId)
    return key === null ? null : (followerOf(key, (id) => this.#state(id))?.keyId ?? null)
  }

  #state(keyId: string): KeyState | null {
    return this.#host.projections.keys.get(keyId)
  }
}
