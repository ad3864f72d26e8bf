/**
 * Reads the write-ahead log before SQLite opens it. SQLite takes the pages up to the first damaged one and ignores the
 * rest without a word, and the next commits overwrite that rest. The format is that of
 * https://sqlite.org/fileformat2.html#walformat: a header, and then frames. A frame is one page with a header of its
 * own. Each checksum continues that of the frame before.
 *
 * A power failure can tear the last commit only, because each commit is synced before the next one begins. So this is
 * the proof of damage: behind a torn frame there is a frame that continues the checksum of a commit. Its writer had
 * synced that commit. A frame can be checked without the frames before it, because the stored checksum of the frame
 * before is enough. Frames with other salts are left from an earlier use of the file, and prove nothing.
 */
import { closeSync, readSync, statSync } from 'node:fs'
import { walReadBytes } from '../../limits.ts'
import { openFolderFile } from '../folder-file.ts'
import { saltsAt, type WalExtent, walExtentOf } from './witness-file.ts'

export type WalLook = {
  /** What SQLite will take: the frames up to the last whole commit. `null`: nothing, or it is damaged. */
  readonly extent: WalExtent | null
  /** What proves that synced commits are lost, as a clause for people. `null`: nothing does. */
  readonly damage: string | null
}

export const walHeaderBytes = 32
export const walFrameHeaderBytes = 24
/** The header begins with this number of bytes of the magic number. */
export const walMagicBytes = 4
/** The last bit says whether checksums read the bytes as big-endian or as little-endian numbers. */
const magicOfLittleEndian = 0x377f0682
export const isWalMagic = (magic: number): boolean => (magic | 1) === (magicOfLittleEndian | 1)
const pageBytesMin = 512
const pageBytesMax = 65_536
/** SQLite locks this byte of the file, and writes nothing to its page. */
const lockByte = 0x40000000
/** The log's file has the size of its pages in these two bytes, as a big-endian number. 1 means 65,536. */
const pageBytesAt = 16
/** The size of a page if no header can tell it. New files of this program have this size. */
const usualPageBytes = 2_048

/** Reads the write-ahead log of the log at `logPath`. @throws a system error if a file cannot be read */
export const lookAtWriteAheadLog = (logPath: string): WalLook => {
  const file = openIfThere(`${logPath}-wal`)
  if (file === null) return { extent: null, damage: null }
  try {
    const header = Buffer.alloc(walHeaderBytes)
    if (readSync(file, header, 0, walHeaderBytes, 0) < walHeaderBytes) return { extent: null, damage: null }
    return lookAtFrames(file, header, logPath)
  } finally {
    closeSync(file)
  }
}

const openIfThere = (path: string): number | null => {
  try {
    return openFolderFile(path, 'read')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

type Sum = readonly [first: number, second: number]

type Frame = {
  readonly salts: bigint
  /** The number of the page in the database, from 1 on. */
  readonly page: number
  /** In the last frame of a commit: how many pages the database then has. In any other frame: 0. */
  readonly databasePages: number
  /** True if the frame's checksum continues that of the frame before. False for a frame with other salts than the header. */
  readonly isContinued: boolean
}

const lookAtFrames = (file: number, header: Buffer, logPath: string): WalLook => {
  const shape = shapeOf(header, logPath)
  if (!isPageSize(shape.pageBytes)) return { extent: null, damage: null }
  const pages = new Set<number>()
  let before: Frame | null = null
  let number = 0
  let committed = 0
  let databasePages = 0
  let torn: number | null = shape.salts === null ? 0 : null
  for (const frame of framesOf(file, shape)) {
    number += 1
    if (torn === null && !frame.isContinued) torn = number
    else if (torn === null) {
      pages.add(frame.page)
      if (frame.databasePages > 0) committed = number
      if (frame.databasePages > 0) databasePages = frame.databasePages
    } else if (provesCommit(before, frame)) return { extent: null, damage: damageText(torn, number) }
    before = frame
  }
  const extent = shape.salts === null ? null : walExtentOf(header.subarray(saltsAt), committed)
  const filePages = Math.floor(statSync(logPath).size / shape.pageBytes)
  const hole = holeIn(pages, { filePages, databasePages, ...shape })
  return { extent, damage: hole === null ? null : `page ${hole} is neither in its file nor in its write-ahead log` }
}

type Database = { readonly filePages: number; readonly databasePages: number; readonly pageBytes: number }

/**
 * Returns a page that the last commit counts, and that is nowhere. Then the log's file is older than its write-ahead
 * log. SQLite writes every new page there first, but for the page that holds its locks.
 */
const holeIn = (pages: ReadonlySet<number>, { filePages, databasePages, pageBytes }: Database): number | null => {
  const lockPage = lockByte / pageBytes + 1
  for (let page = filePages + 1; page <= databasePages; page += 1) {
    if (page !== lockPage && !pages.has(page)) return page
  }
  return null
}

type Shape = {
  readonly pageBytes: number
  readonly isLittleEndian: boolean
  /** `null`: the header is damaged, so every frame is checked, whatever salts it has. */
  readonly salts: bigint | null
  readonly sum: Sum
}

/**
 * The header is synced before the frames, and a disk writes its 32 bytes at once. So only damage explains a header that
 * does not fit its checksum and has commits behind it.
 */
const shapeOf = (header: Buffer, logPath: string): Shape => {
  const magic = header.readUInt32BE(0)
  const isLittleEndian = magic === magicOfLittleEndian
  const sum = checksum(header, { from: 0, to: 24, isLittleEndian }, [0, 0])
  const isWhole = isWalMagic(magic) && isStored(sum, header, 24)
  if (!isWhole) return { pageBytes: pageBytesOf(logPath), isLittleEndian: true, salts: null, sum: [0, 0] }
  return { pageBytes: header.readUInt32BE(8), isLittleEndian, salts: header.readBigUInt64BE(saltsAt), sum }
}

const isPageSize = (bytes: number): boolean => bytes >= pageBytesMin && bytes <= pageBytesMax

/** An older version may have made the file with pages of another size. */
const pageBytesOf = (logPath: string): number => {
  const file = openIfThere(logPath)
  if (file === null) return usualPageBytes
  try {
    const bytes = Buffer.alloc(2)
    readSync(file, bytes, 0, bytes.length, pageBytesAt)
    const stored = bytes.readUInt16BE()
    const pageBytes = stored === 1 ? pageBytesMax : stored
    return isPageSize(pageBytes) ? pageBytes : usualPageBytes
  } finally {
    closeSync(file)
  }
}

const provesCommit = (before: Frame | null, frame: Frame): boolean =>
  before !== null && before.databasePages > 0 && before.salts === frame.salts && frame.isContinued

const damageText = (torn: number, proof: number): string =>
  torn === 0
    ? 'the header of its write-ahead log is damaged, so SQLite would ignore every commit there'
    : `page ${torn} of its write-ahead log is damaged, and page ${proof} follows a commit that was synced later`

function* framesOf(file: number, { pageBytes, isLittleEndian, salts: wanted, sum }: Shape): Generator<Frame> {
  const frameBytes = walFrameHeaderBytes + pageBytes
  const room = Buffer.alloc(Math.max(1, Math.floor(walReadBytes / frameBytes)) * frameBytes)
  let before = sum
  for (let at = walHeaderBytes; ; ) {
    const whole = Math.floor(readSync(file, room, 0, room.length, at) / frameBytes)
    if (whole === 0) return
    for (let index = 0; index < whole; index += 1) {
      const bytes = room.subarray(index * frameBytes, (index + 1) * frameBytes)
      const salts = bytes.readBigUInt64BE(8)
      const isWanted = wanted === null || wanted === salts
      yield {
        salts,
        page: bytes.readUInt32BE(0),
        databasePages: bytes.readUInt32BE(4),
        isContinued: isWanted && continues(bytes, before, isLittleEndian),
      }
      before = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    }
    at += whole * frameBytes
  }
}

/** The checksum covers the first 8 bytes of the frame's header, and the page. */
const continues = (frame: Buffer, before: Sum, isLittleEndian: boolean): boolean => {
  const ofHeader = checksum(frame, { from: 0, to: 8, isLittleEndian }, before)
  return isStored(checksum(frame, { from: walFrameHeaderBytes, to: frame.length, isLittleEndian }, ofHeader), frame, 16)
}

const isStored = ([first, second]: Sum, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second

type Part = { readonly from: number; readonly to: number; readonly isLittleEndian: boolean }

const checksum = (bytes: Buffer, { from, to, isLittleEndian }: Part, [first, second]: Sum): Sum => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let one = first
  let two = second
  for (let at = from; at < to; at += 8) {
    one = (one + view.getUint32(at, isLittleEndian) + two) >>> 0
    two = (two + view.getUint32(at + 4, isLittleEndian) + one) >>> 0
  }
  return [one, two]
}
