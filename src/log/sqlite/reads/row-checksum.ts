import { checksumOf, seedOf } from '../../../bytes/checksum.ts'
import { DamagedLog } from '../../event-log.ts'

export type Checked = {
  readonly position: number
  readonly stream: number
  readonly revision: number
  readonly count: number
  readonly recordedAt: number
  readonly body: string | Uint8Array
}

export type Row = Checked & { readonly checksum: number }

export type StreamOfRow = { readonly name: string; readonly nameChecksum: number }

const numbers = new Float64Array(7)
const numberBytes = new Uint8Array(numbers.buffer)

/**
 * `nameChecksum` finds a row in the wrong stream. The form is part of the file format
 * (docs/decisions/031-rows-carry-a-checksum.md).
 */
export const rowChecksum = (row: Checked, nameChecksum: number): number => {
  const { body } = row
  numbers[0] = row.position
  numbers[1] = row.stream
  numbers[2] = row.revision
  numbers[3] = row.count
  numbers[4] = row.recordedAt
  numbers[5] = nameChecksum
  numbers[6] = typeof body === 'string' ? 1 : 0
  return checksumOf(body, seedOf(numberBytes))
}

export const nameChecksumOf = (name: string): number => checksumOf(name)

export const markChecksum = (name: string, mark: { readonly stream: number; readonly keptFrom: number }): number =>
  checksumOf(`${mark.stream} ${mark.keptFrom} ${name}`)

/** @throws DamagedLog */
export const assertUndamaged = (row: Row, { name, nameChecksum }: StreamOfRow): void => {
  const { position, revision, body, checksum } = row
  // Damage can give a column a value of another type.
  const isBody = typeof body === 'string' || body instanceof Uint8Array
  if (!isBody || rowChecksum(row, nameChecksum) !== checksum) {
    throw new DamagedLog({ stream: name, revision, position }, 'the row does not match its checksum')
  }
}
