import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { CommandFailed, exitCodes } from '../cli/exit-codes.ts'
import type { Config } from '../config.ts'
import { messageOf, thrownError } from '../domain/error-message.ts'

export type Certificate = {
  readonly cert: string
  readonly key: string
  readonly beginsAtMs: number
  readonly endsAtMs: number
}

/** `null`: no TLS. @throws CommandFailed */
export const readCertificate = async ({ tls }: Pick<Config, 'tls'>): Promise<Certificate | null> => {
  if (tls === null) return null
  const pair = await readPair(tls)
  try {
    createSecureContext(pair)
    const { validFrom, validTo } = new X509Certificate(pair.cert)
    return { ...pair, beginsAtMs: Date.parse(validFrom), endsAtMs: Date.parse(validTo) }
  } catch (cause) {
    throw unfit(`Cannot use TLS_CERT and TLS_KEY: ${certificateFault(thrownError(cause))}`, cause)
  }
}

/** Beside requests: a read from a remote disk can take hours. */
const readPair = async ({
  certPath,
  keyPath,
}: NonNullable<Config['tls']>): Promise<Pick<Certificate, 'cert' | 'key'>> => {
  try {
    return { cert: await readFile(certPath, 'utf8'), key: await readFile(keyPath, 'utf8') }
  } catch (cause) {
    throw unfit(`Cannot read TLS_CERT or TLS_KEY: ${messageOf(cause)}`, cause)
  }
}

/** The TLS library's message is only a code: `error:0900006e:PEM routines:OPENSSL_internal:NO_START_LINE`. */
const certificateFault = ({ message }: Error): string => {
  if (/KEY_(VALUES|TYPE)_MISMATCH/.test(message)) return 'the key belongs to another certificate'
  if (/BAD_DECRYPT|PASSWORD/.test(message)) return 'the key has a passphrase. Use a key without one'
  return 'a file is not complete PEM'
}

const unfit = (message: string, cause: unknown): CommandFailed =>
  new CommandFailed(message, exitCodes.configuration, { cause })
