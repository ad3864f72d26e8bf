/** Secrets have 256 random bits. Only their SHA-256 is stored, so a copy of the log gives no access. */
import { base62 } from '../../domain/base62.ts'
import type { Entropy } from '../../entropy.ts'

const secretBytes = 32
const secretChars = 43

export const newSecret = ({ entropy }: { readonly entropy: Entropy }): string =>
  base62(entropy.bytes(secretBytes), secretChars)

type Time = { readonly clock: { now(): number }; readonly entropy: Entropy }

/** Begins with the time at which it was made: after a password change, older ones count no more (`isKeptDevice`). */
export const newDeviceSecret = (context: Time): string => `${context.clock.now().toString(36)}-${newSecret(context)}`

/** In ms since 1970. */
export const deviceMadeAt = (deviceSecret: string): number => Number.parseInt(deviceSecret, 36)

export const hashOf = (secret: string): string => Bun.SHA256.hash(secret, 'hex')
