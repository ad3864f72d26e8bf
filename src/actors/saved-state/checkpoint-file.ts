/**
 * The format of the checkpoint file:
 *
 * - 8 bytes "CLRBCHK1".
 * - For each piece: 4 bytes length, 4 bytes CRC-32 of all pieces so far, and the piece. Numbers are little-endian.
 * - At the end, an empty piece with length 0. If this last piece is missing, the file was cut off.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkpointPieceBytes, checkpointSyncBytes } from '../../limits.ts'
import type { CheckpointStore } from './checkpoints.ts'

const begin = Buffer.from('CLRBCHK1')
const headBytes = 8
/** Only the owner can read the file, because the file contains password hashes. */
const fileMode = 0o600

/** This process must be the only writer of the folder: two writers would write to the same temporary file. */
export const checkpointFile = (dataDir: string): CheckpointStore => {
  const path = join(dataDir, 'checkpoint')
  return {
    read: () => (existsSync(path) ? readPieces(path) : null),
    write: (pieces) => replace(path, pieces),
    discard: () => rm(path, { force: true }),
  }
}

function* readPieces(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    if (!readBytes(file, begin.length).equals(begin)) throw new RangeError('it does not begin with CLRBCHK1')
    let room = Buffer.alloc(checkpointPieceBytes)
    for (let checksum = 0; ; ) {
      const head = readBytes(file, headBytes)
      const length = head.readUInt32LE(0)
      if (length > fstatSync(file).size) throw new RangeError('it is cut off')
      if (length > room.length) room = Buffer.alloc(length)
      const piece = readInto(file, room.subarray(0, length))
      checksum = Bun.hash.crc32(piece, checksum)
      if (head.readUInt32LE(4) !== checksum) throw new RangeError('its checksum is wrong')
      if (length === 0) return
      yield piece
    }
  } finally {
    closeSync(file)
  }
}

const readBytes = (file: number, count: number): Buffer => readInto(file, Buffer.alloc(count))

const readInto = (file: number, bytes: Buffer): Buffer => {
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, bytes.length - at, null)
    if (read === 0) throw new RangeError('it is cut off')
    at += read
  }
  return bytes
}

/** Writes a file beside the old one, then renames it: a crash leaves the old or the new checkpoint. */
const replace = async (path: string, pieces: Iterable<Uint8Array>): Promise<void> => {
  const temporary = `${path}.new`
  try {
    // Never opens an existing file, which another user could have put there.
    await rm(temporary, { force: true })
    const file = await open(temporary, 'wx', fileMode)
    try {
      await writePieces(file, pieces)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (cause) {
    await rm(temporary, { force: true })
    throw cause
  }
}

const writePieces = async (file: FileHandle, pieces: Iterable<Uint8Array>): Promise<void> => {
  await write(file, begin)
  let checksum = 0
  let unsyncedBytes = 0
  for (const piece of pieces) {
    checksum = Bun.hash.crc32(piece, checksum)
    await write(file, headOf(piece.length, checksum))
    await write(file, piece)
    unsyncedBytes += piece.length
    if (unsyncedBytes < checkpointSyncBytes) continue
    // Syncs in small steps: the log's own fsync waits for these writes, so one large sync would delay commits.
    await file.datasync()
    unsyncedBytes = 0
  }
  await write(file, headOf(0, checksum))
}

const write = async (file: FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

const headOf = (length: number, checksum: number): Buffer => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(length, 0)
  head.writeUInt32LE(checksum, 4)
  return head
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
