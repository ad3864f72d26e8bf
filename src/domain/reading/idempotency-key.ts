/**
 * The facts from which a repeat gets the same answer (docs/protocol.md, "Idempotency"). The first event of the request
 * stores them.
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
    /** `judgementRules` at the first request. Other rules could give another answer, so the repeat then gets a 503. */
    rules: Type.Integer({ minimum: 1 }),
    atMs: ms,
    /** The bounds of the cellar at the first request. All are `null` if the node did not know the cellar. */
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
    /** SHA-256. The header's text is never stored, because a careless device can put its API key there. */
    keyHash: sha256,
    /** SHA-256 of the decompressed body, because a retry can be compressed differently. */
    bodyHash: sha256,
    batch: orNull(Type.Object({ accepted: Type.Integer({ minimum: 1 }), refusals: orNull(Judgement) }, strict)),
  },
  strict,
)
export type Idempotency = Static<typeof Idempotency>

const printable = /^[\x20-\x7e]+$/

/** `null` if the text breaks the rule of docs/contract.md, "Idempotency". */
export const idempotencyKeyHash = (text: string): string | null =>
  text.length <= idempotencyKeyCharsMax && printable.test(text) ? Bun.SHA256.hash(text, 'hex') : null

export const bodyHash = (body: Uint8Array): string => Bun.SHA256.hash(body, 'hex')

export type IdempotentAppend = {
  readonly stream: string
  readonly revision: number
  readonly recordedAt: number
  readonly idempotency: Idempotency
}

type Appended = Omit<IdempotentAppend, 'idempotency'> & { readonly metadata: { readonly idempotency?: Idempotency } }

export const idempotentAppendAt = ({ stream, revision, recordedAt, metadata }: Appended): IdempotentAppend | null =>
  metadata.idempotency === undefined ? null : { stream, revision, recordedAt, idempotency: metadata.idempotency }

/** If true, another request can use the idempotency key. */
export const isForgotten = ({ recordedAt }: IdempotentAppend, now: number): boolean => now - recordedAt >= idempotencyMs
