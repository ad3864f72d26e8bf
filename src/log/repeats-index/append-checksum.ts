import { checksumOf, seedOf } from '../../bytes/checksum.ts'

/** The columns of a row of `appends` that its checksum covers: all others. */
export type ChecksummedAppend = {
  readonly key_hash: Uint8Array
  readonly stream: string
  readonly revision: number
  readonly recorded_at: number
  readonly body_hash: Uint8Array
  readonly batch: string | null
  readonly version: number
}

export const appendChecksum = (row: ChecksummedAppend): number => {
  const { stream, revision, recorded_at, batch, version } = row
  const rest = `${revision} ${recorded_at} ${version} ${stream} ${batch ?? ''}`
  return checksumOf(rest, seedOf(row.body_hash, seedOf(row.key_hash)))
}
