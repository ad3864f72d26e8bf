/**
 * Another user who can write the data folder can change the log, or answer commands in place of the service. Parent
 * folders are not checked: if somebody replaced the data folder, the new folder would have another owner, which is a
 * fault.
 */
import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'

export type FolderAccess = {
  /** Sentences about each way in which another user can change the folder. */
  readonly faults: readonly string[]
  /** Sentences about others who can read the folder, or a group of this user that can write it. */
  readonly warnings: readonly string[]
}

export type OwnerAndMode = Pick<Stats, 'uid' | 'gid' | 'mode'>

export type Surroundings = {
  /** `null` if the system has no user ids. Then nothing can be checked. */
  readonly userId: number | null
  readonly groupIds: readonly number[]
  /** Returns `null` if the file is missing or cannot be examined. */
  look(path: string): OwnerAndMode | null
}

export const systemSurroundings = (): Surroundings => ({
  userId: process.geteuid?.() ?? null,
  groupIds: [process.getegid?.() ?? [], process.getgroups?.() ?? []].flat(),
  look: lookAt,
})

const lookAt = (path: string): OwnerAndMode | null => {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

const databases = ['log.db', 'log.lock', 'idempotency.db']
/** All files that a data folder may hold. SQLite itself makes those with a suffix. */
const fileNames: readonly string[] = [
  'control.sock',
  'checkpoint',
  'checkpoint.new',
  ...databases.flatMap((name) => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
]

type Found = OwnerAndMode & { readonly path: string }

export const inspectDataFolder = (folder: string, surroundings: Surroundings): FolderAccess => {
  const { userId, groupIds } = surroundings
  const found = (path: string): readonly Found[] => {
    const stats = surroundings.look(path)
    return stats === null ? [] : [{ path, uid: stats.uid, gid: stats.gid, mode: stats.mode }]
  }
  const [theFolder] = found(folder)
  if (userId === null || theFolder === undefined) return { faults: [], warnings: [] }
  const files = fileNames.flatMap((name) => found(join(folder, name)))
  const all = [theFolder, ...files]

  const ofOthers = all.filter(({ uid }) => uid !== userId && uid !== rootId)
  // The group of a user or of a Kubernetes volume may have no other member. So its write access is a warning, not a
  // fault.
  const isOwnGroup = ({ gid }: Found): boolean => groupIds.includes(gid)
  const writable = all.filter((one) => writes(one, 'others') || (writes(one, 'group') && !isOwnGroup(one)))
  const shared = all.filter((one) => writes(one, 'group') && !writable.includes(one))
  const readable = files.filter((file) => {
    if (writable.includes(file) || shared.includes(file)) return false
    return classes.some((other) => reads(file, other) && enters(theFolder, other))
  })
  return {
    faults: [
      ...sentenceOn(ofOthers, ({ path, uid }, paths) => {
        const owner = `"${path}" belongs to user ${uid}, and this process runs as user ${userId}`
        return `${owner}. Run it as user ${uid}, or run as root: chown ${userId} ${paths}`
      }),
      ...sentenceOn(writable, ({ path, mode }, paths) => {
        const writers = `"${path}" can be written by other users (mode ${modeText(mode)}), so they can change the log`
        return `${writers}. Run: chmod go-w ${paths}`
      }),
    ],
    warnings: [
      ...sentenceOn(shared, ({ path, gid }, paths) => {
        const writers = `"${path}" can be written by every member of group ${gid}`
        return `${writers}. If the group has other members, run: chmod g-w ${paths}`
      }),
      ...sentenceOn(readable, ({ path }, paths) => {
        const readers = `"${path}" can be read by other users: it holds e-mail addresses and password hashes`
        return `${readers}. Run: chmod go= ${paths}`
      }),
    ],
  }
}

/** A file of root is no fault, since root can change everything anyway. */
const rootId = 0

type Class = 'group' | 'others'
const classes: readonly Class[] = ['group', 'others']
const bits = (mode: number, of: Class): number => (of === 'group' ? mode >> 3 : mode) & 0o7
const writes = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o2) !== 0
const reads = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o4) !== 0
const enters = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o1) !== 0

/** Returns one sentence for all files. It describes the first file, and its command names all of them. */
const sentenceOn = (found: readonly Found[], sentence: (first: Found, paths: string) => string): readonly string[] => {
  const [first] = found
  return first === undefined ? [] : [sentence(first, shellWords(found))]
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** Quotes the paths for a POSIX shell. */
const shellWords = (found: readonly Found[]): string =>
  found.map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`).join(' ')
