/** Names of streams (docs/protocol.md, "Streams and identity"). */
import { base62 } from './base62.ts'

const digestChars = 22

const digest = (text: string): string =>
  base62(new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()), 43).slice(0, digestChars)

export const logStream = 'cellarbook-log'
/**
 * The stream of links for the first admin. The streams of other operators are named by their e-mail, but the first admin's
 * e-mail is not known yet.
 */
export const setupStream = 'operator-setup'
/** Sign-ins are personal data. So they have a stream of their own, in which events are deleted after `recordsKeptMs`. */
export const signInsStream = 'signins-node'
/** What a node refused without a known key, or because it could not answer. */
export const nodeRefusalsStream = 'refusals-node'
/** Exports of events, with the person who took them. These records are kept for ever. */
export const exportsStream = 'exports-log'

export const readingsCategory = 'readings'
export const lifecycleCategories = ['cellarbook', 'cellar', 'key', 'operator'] as const
/**
 * Streams of records, such as sign-ins. No decision depends on records, so a node goes on when a record is unreadable
 * (docs/decisions/007-records-decide-nothing.md).
 */
export const recordCategories = ['refusals', 'signins', 'exports', 'proofs'] as const
export const foldedCategories: readonly string[] = [...lifecycleCategories, readingsCategory]
/** Only streams whose names begin with one of these words can lose events. A trigger of `log.db` refuses others. */
export const purgeableCategories: readonly string[] = [readingsCategory, ...recordCategories]
export const categories: readonly string[] = [...foldedCategories, ...recordCategories]

export const cellarStream = (cellar: string): string => `cellar-${digest(cellar)}`
export const operatorStream = (email: string): string => `operator-${digest(email.toLowerCase())}`
export const keyStream = (keyId: string): string => `key-${keyId}`
export const readingsStream = (keyId: string): string => `readings-${keyId}`
export const refusalsStream = (keyId: string): string => `refusals-${keyId}`

/** Returns the id of a key from the name of its stream: `key-<id>`, `readings-<id>` or `refusals-<id>`. */
export const keyIdOf = (stream: string): string => stream.slice(categoryOf(stream).length + 1)

export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** Like `categoryOf`, but streams of one category share one text. Use it for a category that stays in memory. */
export const sharedCategoryOf = (stream: string): string => {
  const category = categoryOf(stream)
  return categories.find((known) => known === category) ?? category
}

const records: ReadonlySet<string> = new Set(recordCategories)
export const isRecordStream = (stream: string): boolean => records.has(categoryOf(stream))
