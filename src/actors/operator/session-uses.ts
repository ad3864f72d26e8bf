import { sessionUsesMax } from '../../limits.ts'

/**
 * When this node last saw each session in use. Only some uses are written to the log (`OperatorSessionRenewed`), for other nodes
 * and for the next start.
 */
export class SessionUses {
  /** By the session's hash, ms. The least recently used is the first. */
  readonly #lastUsedMs = new Map<string, number>()

  constructor(readonly sessionsMax: number = sessionUsesMax) {}

  note(sessionHash: string, now: number): void {
    this.#lastUsedMs.delete(sessionHash)
    this.#lastUsedMs.set(sessionHash, now)
    const [oldest] = this.#lastUsedMs.keys()
    if (this.#lastUsedMs.size > this.sessionsMax && oldest !== undefined) this.#lastUsedMs.delete(oldest)
  }

  /** `null`: this node has not seen it used. */
  lastUsedMs(sessionHash: string): number | null {
    return this.#lastUsedMs.get(sessionHash) ?? null
  }
}
