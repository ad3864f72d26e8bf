/**
 * Another user who can write the data folder can change the log, or answer commands in place of the service. Parent
 * folders need no check: a replaced folder has another owner.
 */
import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'

export type FolderAccess = {
  /** Another user can change the folder. */
  readonly faults: readonly string[]
  /** Others can read the folder, or a group of this user can write it. */
  readonly warnings: readonly string[]
}

export type Reached = Pick<Stats, 'uid' | 'gid' | 'mode'>

export type Surroundings = {
  /** `null`: the system has no user ids. */
  readonly userId: number | null
  readonly groupIds: readonly number[]
  /** `null`: it is missing or cannot be read. */
  look(path: string): Reached | null
}

export const systemSurroundings = (): Surroundings => ({
  userId: process.geteuid?.() ?? null,
  groupIds: [process.getegid?.() ?? [], process.getgroups?.() ?? []].flat(),
  look: lookAt,
})

const lookAt = (path: string): Reached | null => {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

const databases = ['log.db', 'log.lock', 'idempotency.db']
/** SQLite makes the last ones itself. */
const fileNames: readonly string[] = [
  'control.sock',
  'checkpoint',
  'checkpoint.new',
  ...databases.flatMap((name) => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
]

type Found = Reached & { readonly path: string }

export const inspectDataFolder = (folder: string, surroundings: Surroundings): FolderAccess => {
  const { userId, groupIds } = surroundings
  const found = (path: string): readonly Found[] => {
    const reached = surroundings.look(path)
    return reached === null ? [] : [{ path, uid: reached.uid, gid: reached.gid, mode: reached.mode }]
  }
  const [itself] = found(folder)
  if (userId === null || itself === undefined) return { faults: [], warnings: [] }
  const files = fileNames.flatMap((name) => found(join(folder, name)))
  const all = [itself, ...files]

  const foreign = all.filter(({ uid }) => uid !== userId && uid !== rootId)
  // For example a private group, or a volume of Kubernetes.
  const isOwnGroup = ({ gid }: Found): boolean => groupIds.includes(gid)
  const open = all.filter((one) => writes(one, 'others') || (writes(one, 'group') && !isOwnGroup(one)))
  const shared = all.filter((one) => writes(one, 'group') && !open.includes(one))
  const readable = files.filter((file) => {
    if (open.includes(file) || shared.includes(file)) return false
    return classes.some((other) => reads(file, other) && enters(itself, other))
  })
  return {
    faults: [
      ...sentenceOn(foreign, ({ path, uid }, paths) => {
        const owner = `"${path}" belongs to user ${uid}, and this process runs as user ${userId}`
        return `${owner}. Run it as user ${uid}, or run as root: chown ${userId} ${paths}`
      }),
      ...sentenceOn(open, ({ path, mode }, paths) => {
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

/** Root can change everything anyway. */
const rootId = 0

type Class = 'group' | 'others'
const classes: readonly Class[] = ['group', 'others']
const bits = (mode: number, of: Class): number => (of === 'group' ? mode >> 3 : mode) & 0o7
const writes = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o2) !== 0
const reads = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o4) !== 0
const enters = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o1) !== 0

/** It describes the first. */
const sentenceOn = (found: readonly Found[], sentence: (first: Found, paths: string) => string): readonly string[] => {
  const [first] = found
  return first === undefined ? [] : [sentence(first, shellWords(found))]
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** For a POSIX shell. */
const shellWords = (found: readonly Found[]): string =>
  found.map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`).join(' ')
