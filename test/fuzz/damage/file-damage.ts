/** Damages of single files, as by a disk, a copying program or a person. */
import type { Files } from './made-folders.ts'

export type Chance = () => number

export type Damaged = { readonly files: Files; readonly what: string }

export type FileDamage = (files: Files, older: Files, next: Chance) => Damaged | null

/** The files that matter most come more often. */
const shares: readonly (readonly [name: string, share: number])[] = [
  ['log.db', 6],
  ['log.db-wal', 6],
  ['idempotency.db', 3],
  ['idempotency.db-wal', 3],
  ['ask.db', 2],
  ['ask.db-wal', 2],
  ['readings.db', 1],
  ['readings.db-wal', 1],
  ['log.witness', 3],
  ['log.db-shm', 1],
  ['idempotency.db-shm', 1],
  ['log.lock', 1],
]

const pickName = (files: Files, next: Chance): string => {
  const there = shares.flatMap(([name, share]) => (files.has(name) ? Array.from({ length: share }, () => name) : []))
  return pick(there, next)
}

export const pick = <T>(items: readonly T[], next: Chance): T => {
  const item = items[next() % items.length]
  if (item === undefined) throw new Error('There is nothing to choose from')
  return item
}

const sectorBytes = 512

/** Changes the bytes of one file. `null`: the file is too short for this damage. */
const changing =
  (
    change: (bytes: Buffer, old: Buffer | undefined, next: Chance) => { bytes: Buffer; what: string } | null,
  ): FileDamage =>
  (files, older, next) => {
    const name = pickName(files, next)
    const whole = files.get(name)
    if (whole === undefined || whole.length === 0) return null
    const changed = change(Buffer.from(whole), older.get(name), next)
    if (changed === null || changed.bytes.equals(whole)) return null
    return { files: new Map([...files, [name, changed.bytes]]), what: `${name}: ${changed.what}` }
  }

const flip = changing((bytes, _, next) => {
  const at = next() % bytes.length
  const bit = next() % 8
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
  return { bytes, what: `bit ${bit} of byte ${at} flipped` }
})

const zero = changing((bytes, _, next) => {
  const at = sectorAt(bytes, next)
  return { bytes: bytes.fill(0, at, Math.min(at + sectorBytes, bytes.length)), what: `sector at ${at} zeroed` }
})

/** A sector is half written, is written to the wrong place, or is still the old one. */
const tear = changing((bytes, old, next) => {
  const at = sectorAt(bytes, next)
  const kind = next() % 3
  if (kind === 0) {
    const from = at + (next() % sectorBytes)
    for (let each = from; each < Math.min(at + sectorBytes, bytes.length); each += 1) bytes[each] = next() & 0xff
    return { bytes, what: `sector at ${at} random from ${from}` }
  }
  if (kind === 1) {
    const from = sectorAt(bytes, next)
    bytes.copy(bytes, at, from, Math.min(from + sectorBytes, bytes.length))
    return { bytes, what: `sector at ${at} is that of ${from}` }
  }
  if (old === undefined || old.length <= at) return null
  old.copy(bytes, at, at, at + sectorBytes)
  return { bytes, what: `sector at ${at} is an old one` }
})

const sectorAt = (bytes: Buffer, next: Chance): number => sectorBytes * (next() % Math.ceil(bytes.length / sectorBytes))

const cut = changing((bytes, _, next) => {
  const length = next() % 4 === 0 ? 0 : next() % bytes.length
  return { bytes: bytes.subarray(0, length), what: `cut to ${length} of ${bytes.length} bytes` }
})

const remove: FileDamage = (files, _, next) => {
  const name = pickName(files, next)
  return { files: new Map([...files].filter(([each]) => each !== name)), what: `${name} deleted` }
}

/** One file is from an older copy of the folder. An SQLite file comes with or without its write-ahead log. */
const replace: FileDamage = (files, older, next) => {
  const name = pickName(older, next)
  const bytes = older.get(name)
  const whole = files.get(name)
  if (bytes === undefined || (whole !== undefined && bytes.equals(whole))) return null
  const wal = `${name}-wal`
  const isPair = name.endsWith('.db') && next() % 2 === 0
  const kept = [...files].filter(([each]) => !isPair || (each !== wal && each !== `${name}-shm`))
  const oldWal = isPair ? older.get(wal) : undefined
  const pair: [string, Buffer][] = oldWal === undefined ? [] : [[wal, oldWal]]
  const how = isPair ? `, with ${oldWal === undefined ? 'no' : 'its'} write-ahead log` : ''
  return { files: new Map([...kept, [name, bytes], ...pair]), what: `${name} is an older copy${how}` }
}

const helpers = [
  ['log.witness'],
  ...['idempotency.db', 'ask.db', 'readings.db'].map((name) => [name, `${name}-wal`, `${name}-shm`]),
]

/**
 * The whole log is an older copy. The files beside it are newer, older or deleted, but one of them is newer. Only in the
 * folder of a closed service, each of them has reached the end of the log.
 */
const putBack: FileDamage = (files, older, next) => {
  if (files.has('log.db-wal')) return null
  const newer = next() % helpers.length
  const mixed = new Map([...older].filter(([name]) => name.startsWith('log.') && name !== 'log.witness'))
  const words: string[] = []
  for (const [index, names] of helpers.entries()) {
    const from = index === newer ? 'newer' : pick(['newer', 'older', 'deleted'] as const, next)
    words.push(`${names[0]} ${from}`)
    if (from === 'deleted') continue
    for (const [name, bytes] of from === 'newer' ? files : older) if (names.includes(name)) mixed.set(name, bytes)
  }
  return { files: mixed, what: `log.db is an older copy, ${words.join(', ')}` }
}

export const fileDamages: Readonly<Record<string, FileDamage>> = { flip, zero, tear, cut, remove, replace, putBack }
