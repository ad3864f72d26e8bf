/** Names of streams (docs/protocol.md, "Streams and identity"): one `-` after the category. */
import { base62 } from './base62.ts'

const digestChars = 22

const digest = (text: string): string =>
  base62(new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()), 43).slice(0, digestChars)

export const logStream = 'cellarbook-log'
/** Links for the first admin: no e-mail is known yet. */
export const setupStream = 'operator-setup'
/** Where sign-ins came from, and which were refused: personal data, kept for `recordsKeptMs`. */
export const signInsStream = 'signins-node'

/** Of all streams, by what their events are for. Readings are the many; what decides over keys is the rest. */
export const readingsCategory = 'readings'
export const lifecycleCategories = ['cellarbook', 'cellar', 'key', 'operator'] as const
/**
 * Records tell what happened, and decide nothing. No state is folded from them, so a record that this version can\'t read
 * stops nothing (docs/decisions/007-records-decide-nothing.md).
 */
export const recordCategories = ['refusals', 'signins', 'exports', 'proofs'] as const
/** A node folds these into state, and decides by them. */
export const foldedCategories: readonly string[] = [...lifecycleCategories, readingsCategory]
/** Only streams of these may be truncated. SQLite's triggers have a list of their own, which a test compares with this one. */
export const purgeableCategories: readonly string[] = [readingsCategory, ...recordCategories]
export const categories: readonly string[] = [...foldedCategories, ...recordCategories]

export const cellarStream = (cellar: string): string => `cellar-${digest(cellar)}`
export const operatorStream = (email: string): string => `operator-${digest(email.toLowerCase())}`
export const keyStream = (keyId: string): string => `key-${keyId}`
export const readingsStream = (keyId: string): string => `readings-${keyId}`

/** Of either stream of a key. */
export const keyIdOf = (stream: string): string => stream.slice(categoryOf(stream).length + 1)

/** The part before the first `-`. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

const records: ReadonlySet<string> = new Set(recordCategories)
export const isRecordStream = (stream: string): boolean => records.has(categoryOf(stream))
