import { checksumOf, seedOf } from '../../bytes/checksum.ts'

/** All columns that the row's checksum covers. */
export type ChecksummedAppend = {
  readonly key_hash: Uint8Array
  readonly stream: string
  readonly revision: number
  readonly recorded_at: number
  readonly body_hash: Uint8Array
  readonly batch: string | null
}

/** `batch` is JSON, or `null` if the request was a single reading. */
export type AppendRow = ChecksummedAppend & { readonly checksum: number }

export const appendColumns = 'key_hash, stream, revision, recorded_at, body_hash, batch, checksum'

export const appendChecksum = (row: ChecksummedAppend): number => {
  const { stream, revision, recorded_at, batch } = row
  const rest = `${revision} ${recorded_at} ${stream} ${batch ?? ''}`
  return checksumOf(rest, seedOf(row.body_hash, seedOf(row.key_hash)))
}

/** Damage can give a column a value of another type. */
export const isUndamaged = (row: AppendRow): boolean =>
  row.key_hash instanceof Uint8Array && row.body_hash instanceof Uint8Array && appendChecksum(row) === row.checksum
