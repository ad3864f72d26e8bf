import { fieldNames, nameFields, optionalFields, type Reading, type ReadingField, requiredFields } from './fields.ts'

/** The id, the type, the metadata and the framing of an event take at most 360. */
export const encodedReadingBytesBesideData = 400

/**
 * Never below `encodedBytes`. A UTF-16 code unit takes at most 3 bytes in UTF-8. Names have no control characters and no
 * lone surrogates, so JSON escapes only quotes and backslashes, in 2 bytes. A number takes at most 24.
 */
export const encodedBytesAtMost = (reading: Reading): number => {
  let nameChars = 0
  for (const field of nameFields) nameChars += (reading[field] ?? '').length
  return bytesAtMost(1, { nameChars, timestampChars: reading.timestamp.length })
}

export const bytesAtMost = (
  readings: number,
  { nameChars, timestampChars }: { readonly nameChars: number; readonly timestampChars: number },
): number => 3 * nameChars + timestampChars + readings * (24 + bytesOfAllFields + encodedReadingBytesBesideData)

/** The size of `{"cellar":"","rack":"","keg":"","value":,"timestamp":""}`. */
const bytesBesideValues = (fields: readonly ReadingField[]): number =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, '']))).length - '""'.length

const bytesOfAllFields = bytesBesideValues(fieldNames)
const bytesOfRequiredFields = bytesBesideValues(requiredFields)

/** Computes the size without writing the JSON: writing 1 MB would stop all other requests for 26 ms. */
export const encodedBytes = (reading: Reading): number => {
  let bytes = bytesOfRequiredFields + String(reading.value).length + reading.timestamp.length
  for (const field of nameFields) bytes += jsonBytes(reading[field] ?? '')
  for (const field of optionalFields) if (reading[field] !== undefined) bytes += `,"${field}":""`.length
  return bytes + encodedReadingBytesBesideData
}

/**
 * JSON writes a backslash before quotes and backslashes. Names with other characters that it escapes are refused before.
 */
const jsonBytes = (name: string): number => {
  let escapes = 0
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at)
    if (code === quote || code === backslash) escapes += 1
  }
  return Buffer.byteLength(name) + escapes
}

const [quote, backslash] = [0x22, 0x5c]
