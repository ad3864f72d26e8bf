/**
 * The witness is a small file beside the log. It says how far the log was synced, so that a start notices a log that
 * has lost its end. The format, with little-endian numbers:
 *
 * - 8 bytes "CLRBWIT1", and 36 bytes with the id of the log.
 * - 4 bytes: how many pages the write-ahead log had. 8 bytes: its salts, big-endian.
 * - Two float64: the last position, and the time (ms) of its event.
 * - 4 bytes CRC-32 of everything before.
 */
import { closeSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openFolderFile } from '../folder-file.ts'

export type Witness = {
  readonly logId: string
  /** Both are 0 for a log without events. */
  readonly position: number
  readonly recordedAt: number
  readonly wal: WalExtent
}

/** A file that begins anew has `firstSalt` plus one and another `secondSalt`. In a new file, both are random. */
export type WalExtent = {
  readonly firstSalt: number
  readonly secondSalt: number
  readonly pages: number
}

export const saltsAt = 16
export const saltsBytes = 8

const magic = 'CLRBWIT1'
const logIdAt = 8
const logIdBytes = 36
const pagesAt = logIdAt + logIdBytes
const walAt = pagesAt + 4
const positionAt = walAt + saltsBytes
const recordedAtAt = positionAt + 8
const checksumAt = recordedAtAt + 8
const fileBytes = checksumAt + 4

export const witnessPathBeside = (logPath: string): string => join(dirname(logPath), 'log.witness')

/** A crash can leave an empty file, which counts as missing. @throws RangeError if the file is damaged */
export const readWitness = (path: string): Witness | null => {
  const bytes = bytesOf(path)
  if (bytes === null || bytes.length === 0) return null
  if (bytes.length !== fileBytes) throw new RangeError(`it has ${bytes.length} bytes, not ${fileBytes}`)
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new RangeError(`it does not begin with ${magic}`)
  if (bytes.readUInt32LE(checksumAt) !== checksumOf(bytes)) throw new RangeError('its checksum is wrong')
  return {
    logId: bytes.toString('latin1', logIdAt, pagesAt),
    position: bytes.readDoubleLE(positionAt),
    recordedAt: bytes.readDoubleLE(recordedAtAt),
    wal: walExtentOf(bytes.subarray(walAt), bytes.readUInt32LE(pagesAt)),
  }
}

export const walExtentOf = (salts: Buffer, pages: number): WalExtent => ({
  firstSalt: salts.readUInt32BE(0),
  secondSalt: salts.readUInt32BE(4),
  pages,
})

const bytesOf = (path: string): Buffer | null => {
  try {
    const file = openFolderFile(path, 'read')
    try {
      return readFileSync(file)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new RangeError(`it cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

const checksumOf = (bytes: Buffer): number => Bun.hash.crc32(bytes.subarray(0, checksumAt))

/**
 * Written after an fsync of the log, without one of its own. So after a power failure, it can be older than the log, but
 * never newer.
 */
export class WitnessFile {
  readonly #bytes = Buffer.alloc(fileBytes)
  readonly #file: number

  /** Creates a missing file. @throws a system error */
  constructor(path: string, logId: string) {
    if (Buffer.byteLength(logId) !== logIdBytes) throw new RangeError(`Cannot write the id "${logId}" to the witness`)
    this.#bytes.write(magic)
    this.#bytes.write(logId, logIdAt)
    this.#file = openFolderFile(path, 'update')
  }

  /** `salts` are those of the write-ahead log. @throws a system error */
  write(end: Pick<Witness, 'position' | 'recordedAt'>, salts: Uint8Array, pages: number): void {
    this.#bytes.writeUInt32LE(pages, pagesAt)
    this.#bytes.set(salts, walAt)
    this.#bytes.writeDoubleLE(end.position, positionAt)
    this.#bytes.writeDoubleLE(end.recordedAt, recordedAtAt)
    this.#bytes.writeUInt32LE(checksumOf(this.#bytes), checksumAt)
    writeSync(this.#file, this.#bytes, 0, fileBytes, 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}
