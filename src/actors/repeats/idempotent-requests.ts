import { refusalOfKey } from '../../domain/key-refusal.ts'
import type { Readings } from '../../domain/reading/columns.ts'
import type { Idempotency, IdempotentAppend } from '../../domain/reading/idempotency-key.ts'
import { done, refused } from '../../domain/refusal.ts'
import type { ActorContext } from '../actor-context.ts'
import type { IdempotentRequest, Usage } from '../core-interface.ts'
import type { KeyStreams } from '../key/key-streams.ts'
import { IdempotentReadingsRequest, type ReadingAnswer, type ReadingsRequest } from '../key/mailbox.ts'

/** docs/protocol.md, "Idempotency". */
export class IdempotentRequests {
  readonly #context: ActorContext
  readonly #streams: KeyStreams
  /** Requests by the hash of their idempotency key. The mailbox limits their number. */
  readonly #waiting = new Map<string, IdempotentRequest>()
  /**
   * Other nodes' events were read after these requests came. Only then may a request be answered as a repeat: another node
   * can have revoked the key.
   */
  readonly #confirmed = new Set<IdempotentRequest>()
  #mustConfirm = false
  /** Hashes in the current append. A request that already got a 503 can still be stored, so a retry must wait. */
  readonly #sent = new Set<string>()

  constructor(context: ActorContext, streams: KeyStreams) {
    this.#context = context
    this.#streams = streams
  }

  isUnderWay(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    return this.#waiting.has(keyHash) || (at.isAppending && this.#sent.has(keyHash))
  }

  /** Stored or under way. False can be wrong: another node can have stored the request a moment ago. */
  knows(keyHash: string, at: { readonly isAppending: boolean }): boolean {
    if (this.isUnderWay(keyHash, at)) return true
    const known = this.#context.repeats.find(this.#streams.readingsStream, keyHash)
    return known !== null && known !== 'unknown'
  }

  begin(readings: Readings, request: IdempotentRequest): IdempotentReadingsRequest {
    const { keyHash } = request.idempotency
    this.#waiting.set(keyHash, request)
    const onSettled = (): void => {
      this.#waiting.delete(keyHash)
      this.#confirmed.delete(request)
    }
    return new IdempotentReadingsRequest(readings, request, { beat: this.#context.beat, onSettled })
  }

  sent(requests: readonly ReadingsRequest[]): void {
    this.#sent.clear()
    if (this.#waiting.size === 0) return
    for (const { idempotent } of requests) if (idempotent !== null) this.#sent.add(idempotent.idempotency.keyHash)
  }

  written({ idempotent }: ReadingsRequest, place: Omit<IdempotentAppend, 'idempotency'>): void {
    if (idempotent !== null) this.#context.repeats.keep({ ...place, idempotency: idempotent.idempotency })
  }

  /**
   * Other nodes' events are read first. That can load the state again, which skips older readings. Their idempotency keys
   * must then be read, too.
   */
  async catchUp(): Promise<void> {
    if (this.#mustConfirm) await this.#confirm()
    if (this.#waiting.size > 0) await this.#streams.readOlderRepeats()
  }

  async #confirm(): Promise<void> {
    this.#mustConfirm = false
    const asked = [...this.#waiting]
    await this.#streams.readNews()
    // A newer request with the same idempotency key can have come during the read, which can miss a revocation before it.
    // It needs a read of its own.
    for (const [keyHash, request] of asked) {
      if (this.#waiting.get(keyHash) === request) this.#confirmed.add(request)
    }
  }

  /**
   * `null`: treated like a new request. `unconfirmed`: other nodes' events must be read first. A repeat appends nothing, so
   * no conflict would show a revocation.
   */
  answer(request: IdempotentRequest): ReadingAnswer | null | 'unconfirmed' {
    const { idempotency, refusal } = request
    const { key, readings, readingsStream, now, knowsAllRepeats } = this.#streams
    if (refusalOfKey(key, readings.sealed !== null, now) !== null) return null
    const known = this.#context.repeats.find(readingsStream, idempotency.keyHash)
    if (known === 'unknown' || !knowsAllRepeats) return unavailable
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

/** `batch` is `null` for single readings. The same bytes mean something else at the other endpoint. */
const isSamePayload = (known: Idempotency, asked: Idempotency): boolean =>
  known.bodyHash === asked.bodyHash && (known.batch === null) === (asked.batch === null)

const acceptedBefore = ({ stream, revision, recordedAt, idempotency }: IdempotentAppend, usage: Usage) => {
  const last = revision + (idempotency.batch?.accepted ?? 1) - 1
  return { stream, first: revision, last, recordedAt, usage, repeats: idempotency }
}
