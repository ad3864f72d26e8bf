import type { RecordedEvent } from '../../domain/events.ts'
import { followerOf, type KeyState } from '../../domain/key.ts'
import { keyIdOf, readingsStream } from '../../domain/stream-names.ts'
import { tailEventsMax } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { Registry } from '../registry.ts'
import type { KeyActor } from './key-actor.ts'

/**
 * Watches for the first use of a successor, and then ends the old key (docs/decisions/012-a-rotation-is-two-appends.md). It
 * does so at the node's start, too. After an outage, each heartbeat tries again.
 */
export class SupersedeOnFirstUse {
  readonly #context: ActorContext
  readonly #keys: Registry<KeyActor>
  readonly #waitingForUse = new Map<string, string>()
  readonly #toEnd = new Map<string, 'waiting' | 'under_way'>()
  /** No key ends before that: a later event of the log can show that it has already ended. */
  #isLogFolded = false

  constructor(context: ActorContext, keys: Registry<KeyActor>) {
    this.#context = context
    this.#keys = keys
  }

  /** For rotations before the start: the subscription delivers only later events. */
  recall(): void {
    for (const { keyId, revoked, rotation } of this.#context.projections.keys.list()) {
      if (rotation === null || rotation.superseded !== null) continue
      if (!this.#isUsed(rotation.successorId)) this.#waitingForUse.set(readingsStream(rotation.successorId), keyId)
      else if (revoked === null) this.#toEnd.set(keyId, 'waiting')
    }
  }

  hear(event: RecordedEvent): void {
    if (event.type === 'KeyRotated')
      this.#waitingForUse.set(readingsStream(event.data.successorId), keyIdOf(event.stream))
    if (event.type !== 'KeySuperseded' && event.type !== 'KeyRevoked') return
    const keyId = keyIdOf(event.stream)
    if (event.type === 'KeySuperseded' && !this.#isLogFolded) this.#toEnd.delete(keyId)
    this.#passOnUse(keyId)
  }

  /** Called for every reading of every key, so it must be fast. */
  hearReading(stream: string): void {
    if (this.#waitingForUse.size > 0) this.#used(stream)
  }

  onBeat(): void {
    if (this.#isLogFolded) for (const keyId of this.#toEnd.keys()) void this.#tryToEnd(keyId)
  }

  async run(): Promise<void> {
    this.#isLogFolded = true
    for (const keyId of [...this.#toEnd.keys()]) await this.#tryToEnd(keyId)
  }

  #used(stream: string): void {
    const keyId = this.#waitingForUse.get(stream)
    if (keyId === undefined) return
    this.#waitingForUse.delete(stream)
    if (!this.#toEnd.has(keyId)) this.#toEnd.set(keyId, 'waiting')
    if (this.#isLogFolded) void this.#tryToEnd(keyId)
  }

  /**
   * A successor can be revoked or rotated before its first use. Then the first use of its own successor counts as its use.
   * Otherwise the old key would never end.
   */
  #passOnUse(keyId: string): void {
    if (this.#isUsed(keyId)) this.#used(readingsStream(keyId))
  }

  async #tryToEnd(keyId: string): Promise<void> {
    if (this.#toEnd.get(keyId) !== 'waiting') return
    const successorId = this.#usedSuccessor(keyId)
    if (successorId === null) {
      this.#toEnd.delete(keyId)
      return
    }
    this.#toEnd.set(keyId, 'under_way')
    try {
      if (await this.#supersede(keyId, successorId)) this.#toEnd.delete(keyId)
      else this.#toEnd.set(keyId, 'waiting')
    } catch (error) {
      this.#toEnd.set(keyId, 'waiting')
      if (!(error instanceof Outage)) this.#context.onBug(error)
    }
  }

  /** `null`: not used. An ended key counts, too: the node that ended it can have died before the fence. */
  #usedSuccessor(keyId: string): string | null {
    const successorId = this.#follower(keyId)
    return successorId !== null && this.#isUsed(successorId) ? successorId : null
  }

  async #supersede(keyId: string, successorId: string): Promise<boolean> {
    const first = await this.#firstReading(successorId)
    if (first === null) return false
    const command = { type: 'SupersedeKey' as const, successorId, usedAt: first.recordedAt, readingId: first.id }
    const asker = systemAsker(this.#context)
    const ended = await this.#keys.get(keyId)?.change(command, asker)
    if (ended === undefined) return false
    if (ended.ok) return true
    if (ended.refusal.kind !== 'key_is_revoked') return false
    this.#passOnUse(keyId)
    return true
  }

  async #firstReading(keyId: string): Promise<RecordedEvent | null> {
    for (let next: string | null = keyId; next !== null; next = this.#substituteOf(next)) {
      const found = await this.#firstReadingIn(readingsStream(next))
      if (found !== null) return found
    }
    return null
  }

  /** Fences can come before the first reading. */
  async #firstReadingIn(stream: string): Promise<RecordedEvent | null> {
    let from = 0
    while (true) {
      const page = await this.#context.log.read(stream, { from, limit: tailEventsMax })
      const found = page.find(({ type }) => type === 'ReadingAccepted')
      if (found !== undefined) return found
      const last = page.at(-1)
      if (last === undefined || page.length < tailEventsMax) return null
      from = last.revision + 1
    }
  }

  #isUsed(keyId: string): boolean {
    for (let next: string | null = keyId; next !== null; next = this.#substituteOf(next)) {
      // A key that ended in a rotation was used, even if this node has not received that reading.
      if (this.#context.projections.readings.usage(next) !== null || this.#isSuperseded(next)) return true
    }
    return false
  }

  #isSuperseded(keyId: string): boolean {
    const rotation = this.#state(keyId)?.rotation ?? null
    return rotation !== null && rotation.superseded !== null
  }

  /**
   * If the key was revoked or has ended in a rotation: the key whose use counts as its use. A loop over these keys ends,
   * because each is newer.
   */
  #substituteOf(keyId: string): string | null {
    const isRevoked = (this.#state(keyId)?.revoked ?? null) !== null
    return isRevoked || this.#isSuperseded(keyId) ? this.#follower(keyId) : null
  }

  #follower(keyId: string): string | null {
    const key = this.#state(keyId)
    return key === null ? null : (followerOf(key, (id) => this.#state(id))?.keyId ?? null)
  }

  #state(keyId: string): KeyState | null {
    return this.#context.projections.keys.get(keyId)
  }
}
