/** docs/protocol.md, "Streams and identity". */
import { base62 } from './base62.ts'

const digestChars = 22

const digest = (text: string): string =>
  base62(new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()), 43).slice(0, digestChars)

export const logStream = 'cellarbook-log'
/** Other operators' streams are named by their e-mail, but the first admin's is not known yet. */
export const setupStream = 'operator-setup'
/** Sign-ins are personal data: this stream's events are deleted after `recordsKeptMs`. */
export const signInsStream = 'signins-node'
/** Refusals of requests without a known key, and of requests that the node could not answer. */
export const nodeRefusalsStream = 'refusals-node'
/** Each export with the person who made it. Kept for ever. */
export const exportsStream = 'exports-log'
/** Lines of all nodes. Each node replaces only its own. */
export const nodesAttentionStream = 'attention-nodes'
/** Who put which line to rest. Kept for ever. */
export const attentionRestsStream = 'attention-rests'
/** Where what needs attention is sent to. Kept for ever. */
export const webhooksStream = 'attention-webhooks'

export const readingsCategory = 'readings'
export const lifecycleCategories = ['cellarbook', 'cellar', 'key', 'operator'] as const
/**
 * No decision depends on records, so a node goes on when one is unreadable (docs/decisions/007-records-decide-nothing.md).
 */
export const recordCategories = ['refusals', 'signins', 'exports', 'attention', 'proofs'] as const
export const foldedCategories: readonly string[] = [...lifecycleCategories, readingsCategory]
/** A trigger of `log.db` refuses to delete events of other categories. */
export const purgeableCategories: readonly string[] = [readingsCategory, ...recordCategories]
export const categories: readonly string[] = [...foldedCategories, ...recordCategories]

export const cellarStream = (cellar: string): string => `cellar-${digest(cellar)}`
export const operatorStream = (email: string): string => `operator-${digest(email.toLowerCase())}`
export const keyStream = (keyId: string): string => `key-${keyId}`
export const readingsStream = (keyId: string): string => `readings-${keyId}`
export const refusalsStream = (keyId: string): string => `refusals-${keyId}`

export const attentionStream = (cellar: string): string => `attention-${digest(cellar)}`
export const deliveriesStream = (webhookId: string): string => `attention-to-${webhookId}`

export const keyIdOf = (stream: string): string => stream.slice(categoryOf(stream).length + 1)

export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** The same text object for all streams of a category, which saves memory where a category is kept. */
export const sharedCategoryOf = (stream: string): string => {
  const category = categoryOf(stream)
  return categories.find((known) => known === category) ?? category
}

const records: ReadonlySet<string> = new Set(recordCategories)
export const isRecordStream = (stream: string): boolean => records.has(categoryOf(stream))
