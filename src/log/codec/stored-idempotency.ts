/**
 * Stores `metadata.idempotency` as JSON with its own version number. Data without a number has version 1. Old versions
 * are converted when they are read.
 */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Metadata } from '../../domain/events.ts'
import { Idempotency } from '../../domain/reading/idempotency-key.ts'
import { idempotencyUpcasts, idempotencyVersion } from './upcast.ts'

const idempotencyCheck = TypeCompiler.Compile(Idempotency)

export const storedMetadata = (metadata: Metadata): object =>
  metadata.idempotency === undefined
    ? metadata
    : { ...metadata, idempotency: { version: idempotencyVersion, ...metadata.idempotency } }

/**
 * Converts the idempotency data in the stored metadata to the newest version. Does not check the schema, because the
 * codec checks all metadata later.
 * @throws RangeError for a version that this program does not know
 */
export const newestMetadata = (stored: unknown): unknown => {
  if (typeof stored !== 'object' || stored === null || !('idempotency' in stored)) return stored
  const { idempotency } = stored
  if (typeof idempotency !== 'object' || idempotency === null) return stored
  if (!('version' in idempotency)) return { ...stored, idempotency: upcast(1, idempotency) }
  const { version, ...form } = idempotency
  return { ...stored, idempotency: upcast(version, form) }
}

/** @throws RangeError for an unknown version, or if the converted data does not match the schema */
export const newestIdempotency = (version: unknown, form: unknown): Idempotency => {
  const newest = upcast(version, form)
  if (idempotencyCheck.Check(newest)) return newest
  throw new RangeError('its idempotency data does not match the schema')
}

const upcast = (version: unknown, form: unknown): unknown => {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1 || version > idempotencyVersion) {
    const known = `this version knows up to ${idempotencyVersion}`
    throw new RangeError(`its idempotency data has version ${String(version)}, and ${known}`)
  }
  let newest = form
  for (let at = version; at < idempotencyVersion; at += 1) newest = idempotencyUpcasts[at]?.(newest)
  return newest
}
