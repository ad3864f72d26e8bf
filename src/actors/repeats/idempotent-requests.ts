import { refusalOfKey } from '../../domain/reading/admission.ts'
import type { Idempotency, KeyedAppend } from '../../domain/reading/idempotency-key.ts'
import type { Readings } from '../../domain/reading/reading.ts'
import { done, refused } from '../../domain/refusal.ts'
import type { KeyedRequest, Usage } from '../core.ts'
import type { Host } from '../host.ts'
import type { KeyStreams } from '../key/key-streams.ts'
import { IdempotentReadingsRequest, type ReadingAnswer, type ReadingsRequest } from '../key/mailbox.ts'

/** The requests of one API key that have an idempotency key, and the answers to repeats (docs/protocol.md, "Idempotency"). */
export class IdempotentRequests {
  readonly #host: Host
  readonly #streams: KeyStreams
  /** Requests without an answer, by the hash of the idempotency key. The mailbox bounds their number. */
  readonly #waiting = new Map<string, KeyedRequest>()
  /** The waiting requests that came before the last read of other nodes' events. */
  readonly #confirmed = new Set<KeyedRequest>()
  #mustConfirm = false
  /** Hashes in the last append. Until it ends, a request that was answered early (503) still has no outcome. */
  readonly #sent = new Set<string>()

  constructor(host: Host, streams: KeyStreams) {
    this.#host = host
    this.#streams = streams
  }

  isUnderWay(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    return this.#waiting.has(keyHash) || (at.isAppending && this.#sent.has(keyHash))
  }

  /** True if such a request is under way, or has stored something. May miss what another node stored a moment ago. */
  knows(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    if (this.isUnderWay(keyHash, at)) return true
    const known = this.#host.repeats?.find(this.#streams.readingsStream, keyHash)
    return known !== undefined && known !== null && known !== 'unknown'
  }

  /** The request is under way until it is settled. */
  begin(readings: Readings, request: KeyedRequest): IdempotentReadingsRequest {
    const { keyHash } = request.idempotency
    this.#waiting.set(keyHash, request)
    const onSettled = (): void => {
      this.#waiting.delete(keyHash)
      this.#confirmed.delete(request)
    }
    return new IdempotentReadingsRequest(readings, request, { beat: this.#host.beat, onSettled })
  }

  sent(requests: readonly ReadingsRequest[]): void {
    this.#sent.clear()
    if (this.#waiting.size === 0) return
    for (const { idempotent } of requests) if (idempotent !== null) this.#sent.add(idempotent.idempotency.keyHash)
  }

  written({ idempotent }: ReadingsRequest, place: Omit<KeyedAppend, 'idempotency'>): void {
    if (idempotent !== null) this.#host.repeats?.keep({ ...place, idempotency: idempotent.idempotency })
  }

  /** Reads what the waiting requests need. The news come first: a read that skips events leaves repeats to look for. */
  async catchUp(): Promise<void> {
    if (this.#mustConfirm) await this.#confirm()
    if (this.#waiting.size > 0) await this.#streams.readOlderRepeats()
  }

  async #confirm(): Promise<void> {
    this.#mustConfirm = false
    const asked = [...this.#waiting]
    await this.#streams.readNews()
    // A request that came during the read may have the same idempotency key. It is not confirmed.
    for (const [keyHash, request] of asked) {
      if (this.#waiting.get(keyHash) === request) this.#confirmed.add(request)
    }
  }

  /**
   * The answer to a request that stores nothing. `null`: its readings are to be admitted, or the API key refuses them.
   *
   * A repeat makes no append that could meet another node's revocation. So `unconfirmed` asks for a read of the news after
   * the request came.
   */
  answer(request: KeyedRequest): ReadingAnswer | null | 'unconfirmed' {
    const { idempotency, refusal } = request
    const { key, readings, readingsStream, now, knowsAllRepeats } = this.#streams
    if (refusalOfKey(key, readings.sealed !== null, now) !== null) return null
    const known = this.#host.repeats?.find(readingsStream, idempotency.keyHash)
    if (known === undefined || known === 'unknown' || !knowsAllRepeats) return unavailable
    if (known === null) return refusal === null ? null : refused(refusal)
    if (!isSamePayload(known.idempotency, idempotency)) return refused({ kind: 'idempotency_key_reused' })
    if (!this.#confirmed.has(request)) {
      this.#mustConfirm = true
      return 'unconfirmed'
    }
    const { usage } = this.#streams
    return usage === null ? unavailable : done(acceptedBefore(known, usage))
  }
}

const unavailable: ReadingAnswer = refused({ kind: 'store_unavailable' })

/** The two endpoints give the same bytes different meanings. */
const isSamePayload = (known: Idempotency, asked: Idempotency): boolean =>
  known.bodyHash === asked.bodyHash && (known.batch === null) === (asked.batch === null)

const acceptedBefore = ({ stream, revision, recordedAt, idempotency }: KeyedAppend, usage: Usage) => {
  const last = revision + (idempotency.batch?.accepted ?? 1) - 1
  return { stream, first: revision, last, recordedAt, usage, repeats: idempotency }
}
