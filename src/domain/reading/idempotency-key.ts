/**
 * If a request has an `Idempotency-Key`, its first event also stores the facts from which a repeat gets the same answer
 * (docs/protocol.md, "Idempotency").
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { idempotencyKeyCharsMax, idempotencyMs } from '../../limits.ts'

const strict = { additionalProperties: false } as const
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, 64 lower-case hex digits' })
const ms = Type.Integer({ minimum: 0, description: 'milliseconds' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Judgement = Type.Object(
  {
    rejected: Type.Integer({ minimum: 1 }),
    /**
     * The value of `judgementRules` at the first request. The refused items of a batch are not stored, so a repeat checks them
     * again. Other rules could give another answer, so the repeat then gets a 503.
     */
    rules: Type.Integer({ minimum: 1 }),
    atMs: ms,
    /** The cellar's bounds at the first request. All are `null` if the node did not know the cellar. */
    bounds: Type.Object(
      { readingAgeMsMax: orNull(ms), readingAheadMsMax: orNull(ms), retentionMs: orNull(ms) },
      strict,
    ),
  },
  strict,
)
export type Judgement = Static<typeof Judgement>

export const Idempotency = Type.Object(
  {
    /**
     * SHA-256 of the `Idempotency-Key`. The header's text is never stored, because a careless device can put its API key there.
     */
    keyHash: sha256,
    /** SHA-256 of the decompressed body, because a retry can be compressed differently. */
    bodyHash: sha256,
    /** `null` if the request was a single reading. */
    batch: orNull(Type.Object({ accepted: Type.Integer({ minimum: 1 }), refusals: orNull(Judgement) }, strict)),
  },
  strict,
)
export type Idempotency = Static<typeof Idempotency>

const printable = /^[\x20-\x7e]+$/

/** Returns `null` if the text of an `Idempotency-Key` breaks the rule of docs/contract.md, "Idempotency". */
export const idempotencyKeyHash = (text: string): string | null =>
  text.length <= idempotencyKeyCharsMax && printable.test(text) ? Bun.SHA256.hash(text, 'hex') : null

export const bodyHash = (body: Uint8Array): string => Bun.SHA256.hash(body, 'hex')

/**
 * Says where and when the events of a request with an idempotency key are stored. `revision` is the revision of the first
 * event.
 */
export type IdempotentAppend = {
  readonly stream: string
  readonly revision: number
  readonly recordedAt: number
  readonly idempotency: Idempotency
}

type Appended = Omit<IdempotentAppend, 'idempotency'> & { readonly metadata: { readonly idempotency?: Idempotency } }

export const idempotentAppendAt = ({ stream, revision, recordedAt, metadata }: Appended): IdempotentAppend | null =>
  metadata.idempotency === undefined ? null : { stream, revision, recordedAt, idempotency: metadata.idempotency }

/** True if the idempotency key has expired at `now` (ms). Another request can then use it. */
export const isForgotten = ({ recordedAt }: IdempotentAppend, now: number): boolean => now - recordedAt >= idempotencyMs
