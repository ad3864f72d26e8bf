/** Names of streams (design, "The log and its streams"): one `-` after the category. */
import { base62 } from './base62.ts'

const digestChars = 22

const digest = (text: string): string =>
  base62(new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()), 43).slice(0, digestChars)

export const logStream = 'cellarbook-log'
/** Links for the first admin: no e-mail is known yet. */
export const setupStream = 'operator-setup'

/** Of all streams, by what their events are for. Readings are the many; what decides over keys is the rest. */
export const readingsCategory = 'readings'
export const lifecycleCategories = ['cellarbook', 'cellar', 'key', 'operator'] as const
export const categories: readonly string[] = [...lifecycleCategories, readingsCategory]

export const cellarStream = (cellar: string): string => `cellar-${digest(cellar)}`
export const operatorStream = (email: string): string => `operator-${digest(email.toLowerCase())}`
export const keyStream = (keyId: string): string => `key-${keyId}`
export const readingsStream = (keyId: string): string => `readings-${keyId}`

/** Of either stream of a key. */
export const keyIdOf = (stream: string): string => stream.slice(categoryOf(stream).length + 1)

/** The part before the first `-`. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))
