/**
 * `Idempotency-Key` (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency"): a request that is sent again with the key it had is
 * answered as the first was, and stores nothing. What that takes lies in the log, with the first event that it stored.
 */
import { type Static, Type } from '@sinclair/typebox'
import { idempotencyKeyCharsMax, idempotencyMs } from '../../limits.ts'
import type { RecordedEvent } from '../events.ts'
import { Refusals } from './batch-repeat.ts'

const strict = { additionalProperties: false } as const
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, 64 lower-case hex digits' })

/**
 * In the metadata of the first event that a request with an `Idempotency-Key` stored. Its stored form has a version of its
 * own: `log/codec/stored-idempotency.ts`.
 */
export const Idempotency = Type.Object(
  {
    /** Of the header's text. Never the text itself: a careless device puts its API key there. */
    keyHash: sha256,
    /** Of the body's bytes as they are after decompression, so that a retry may come through another encoder. */
    bodyHash: sha256,
    /**
     * How many of its items were accepted, and what a repeat needs to name the refused ones; `null` if it was a single
     * reading, which another endpoint takes.
     */
    batch: Type.Union([
      Type.Object({ accepted: Type.Integer({ minimum: 1 }), refusals: Type.Union([Refusals, Type.Null()]) }, strict),
      Type.Null(),
    ]),
  },
  strict,
)
export type Idempotency = Static<typeof Idempotency>

/** One printable ASCII character or more (docs/contract.md, "Idempotency"). */
const printable = /^[\x20-\x7e]+$/

/** What stands for that `Idempotency-Key`; `null` if it is none. */
export const idempotencyKeyHash = (text: string): string | null =>
  text.length <= idempotencyKeyCharsMax && printable.test(text) ? Bun.SHA256.hash(text, 'hex') : null

export const bodyHash = (body: Uint8Array): string => Bun.SHA256.hash(body, 'hex')

/** What a request with an `Idempotency-Key` has stored. */
export type KeyedAppend = {
  readonly stream: string
  /** Of its first event. */
  readonly revision: number
  /** Ms. */
  readonly recordedAt: number
  readonly idempotency: Idempotency
}

/** The request that began with this event, if it carried an `Idempotency-Key`. */
export const keyedAppendAt = ({ stream, revision, recordedAt, metadata }: RecordedEvent): KeyedAppend | null =>
  metadata.idempotency === undefined ? null : { stream, revision, recordedAt, idempotency: metadata.idempotency }

/** Whether it counts no more at `now` (ms): the same key then begins anew. */
export const isForgotten = ({ recordedAt }: KeyedAppend, now: number): boolean => now - recordedAt >= idempotencyMs
