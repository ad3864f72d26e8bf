import { refusalOfKey } from '../../domain/reading/admission.ts'
import type { Idempotency, KeyedAppend } from '../../domain/reading/idempotency-key.ts'
import type { Readings } from '../../domain/reading/reading.ts'
import { done, refused } from '../../domain/refusal.ts'
import type { KeyedRequest, Usage } from '../core.ts'
import type { Host } from '../host.ts'
import type { KeyStreams } from '../key/key-streams.ts'
import { KeyedAsk, type ReadingAnswer, type ReadingAsk } from '../key/mailbox.ts'

/**
 * The requests of one API key that carry an `Idempotency-Key`: which of them are under way on this node, and what others
 * have stored before them (docs/protocol.md, "Idempotency").
 */
export class KeyedAsks {
  readonly #host: Host
  readonly #streams: KeyStreams
  /** By the hash of its key, a request that has no answer yet: no more than fit into the mailbox. */
  readonly #waiting = new Map<string, KeyedRequest>()
  /** Of these, which came before the last look at what other nodes have written. */
  readonly #confirmed = new Set<KeyedRequest>()
  #mustConfirm = false
  /** Of those in the last append that left: while it is out, what was told to wait no longer has no outcome yet. */
  readonly #sent = new Set<string>()

  constructor(host: Host, streams: KeyStreams) {
    this.#host = host
    this.#streams = streams
  }

  isUnderWay(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    return this.#waiting.has(keyHash) || (at.isAppending && this.#sent.has(keyHash))
  }

  /** Under way, or known to have stored something. What another node stored a moment ago may not be known yet. */
  knows(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    if (this.isUnderWay(keyHash, at)) return true
    const known = this.#host.remembered?.find(this.#streams.readingsStream, keyHash)
    return known !== undefined && known !== null && known !== 'unknown'
  }

  /** From here on it is under way, until it is settled. */
  begin(readings: Readings, request: KeyedRequest): KeyedAsk {
    const { keyHash } = request.idempotency
    this.#waiting.set(keyHash, request)
    const onSettled = (): void => {
      this.#waiting.delete(keyHash)
      this.#confirmed.delete(request)
    }
    return new KeyedAsk(readings, request, { beat: this.#host.beat, onSettled })
  }

  send(asks: readonly ReadingAsk[]): void {
    this.#sent.clear()
    if (this.#waiting.size > 0)
      for (const { keyed } of asks) if (keyed !== null) this.#sent.add(keyed.idempotency.keyHash)
  }

  written({ keyed }: ReadingAsk, place: Omit<KeyedAppend, 'idempotency'>): void {
    if (keyed !== null) this.#host.remembered?.keep({ ...place, idempotency: keyed.idempotency })
  }

  /** Reads what the requests that wait have to be judged by, besides the state. */
  async bringUp(): Promise<void> {
    if (this.#mustConfirm) await this.#confirm()
    if (this.#waiting.size > 0) await this.#streams.recall()
  }

  /** Before `recall`: who is far behind reads the end alone, and then the keys of what lies between are looked for. */
  async #confirm(): Promise<void> {
    this.#mustConfirm = false
    const asked = [...this.#waiting]
    await this.#streams.readNews()
    // One that came with the same key meanwhile is another request, and came after the look.
    for (const [keyHash, request] of asked) {
      if (this.#waiting.get(keyHash) === request) this.#confirmed.add(request)
    }
  }

  /**
   * What is to be said without storing anything; `null` if its readings are to be stored, or its API key is refused.
   *
   * `unconfirmed`: it is a repeat, of which no append would meet what another node has written, such as a revocation. So that
   * has to be looked for, after the request came.
   */
  answer(request: KeyedRequest): ReadingAnswer | null | 'unconfirmed' {
    const { idempotency, refusal } = request
    const { key, readings, readingsStream, now, remembersAll } = this.#streams
    if (refusalOfKey(key, readings.sealed !== null, now) !== null) return null
    const known = this.#host.remembered?.find(readingsStream, idempotency.keyHash)
    if (known === undefined || known === 'unknown' || !remembersAll) return unavailable
    if (known === null) return refusal === null ? null : refused(refusal)
    if (!isSamePayload(known.idempotency, idempotency)) return refused({ kind: 'idempotency_key_reused' })
    if (!this.#confirmed.has(request)) {
      this.#mustConfirm = true
      return 'unconfirmed'
    }
    const { usage } = this.#streams
    return usage === null ? unavailable : done(asThen(known, usage))
  }
}

const unavailable: ReadingAnswer = refused({ kind: 'store_unavailable' })

/** The same bytes to the same endpoint: what they mean depends on it. */
const isSamePayload = (known: Idempotency, asked: Idempotency): boolean =>
  known.bodyHash === asked.bodyHash && (known.batch === null) === (asked.batch === null)

const asThen = ({ stream, revision, recordedAt, idempotency }: KeyedAppend, usage: Usage) => {
  const last = revision + (idempotency.batch?.accepted ?? 1) - 1
  return { stream, first: revision, last, recordedAt, usage, repeats: idempotency }
}
