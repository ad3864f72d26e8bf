/**
 * Parent folders are not checked: if somebody replaces the data folder, the new one has another owner
 * (docs/decisions/027-other-users-of-the-machine.md).
 */
import { constants, lstatSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'

export type FolderAccess = {
  /** How another user can change the folder or a file. By default, a fault stops the start. */
  readonly faults: readonly string[]
  /** How others can read a file, or how this process's groups can write. The service starts nevertheless. */
  readonly warnings: readonly string[]
}

export type OwnerAndMode = Pick<Stats, 'uid' | 'gid' | 'mode'>

export type Surroundings = {
  /** `null`: the system has no user ids, so nothing is checked. */
  readonly userId: number | null
  readonly groupIds: readonly number[]
  /** `null`: missing, or cannot be read. */
  look(path: string, of: 'folder' | 'file'): OwnerAndMode | null
}

export const systemSurroundings = (): Surroundings => ({
  userId: process.geteuid?.() ?? null,
  groupIds: [process.getegid?.() ?? [], process.getgroups?.() ?? []].flat(),
  look: lookAt,
})

/** The folder may be a link. A file may not, so the look does not follow a link. */
const lookAt = (path: string, of: 'folder' | 'file'): OwnerAndMode | null => {
  try {
    return of === 'folder' ? statSync(path) : lstatSync(path)
  } catch {
    return null
  }
}

const socketName = 'control.sock'
const databases = ['log.db', 'log.lock', 'idempotency.db', 'ask.db', 'readings.db', 'beginning.db']
/** SQLite creates the files that end with `-wal`, `-shm` and `-journal`. They hold parts of the database. */
const fileNames: readonly string[] = [
  socketName,
  'log.witness',
  'backup.json',
  'webhook-master',
  'excused.json',
  ...databases.flatMap((name) => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
]

type Found = OwnerAndMode & { readonly path: string }

export const inspectDataFolder = (folder: string, surroundings: Surroundings): FolderAccess => {
  const { userId, groupIds } = surroundings
  const found = (path: string, of: 'folder' | 'file'): readonly Found[] => {
    const stats = surroundings.look(path, of)
    return stats === null ? [] : [{ path, uid: stats.uid, gid: stats.gid, mode: stats.mode }]
  }
  const [theFolder] = found(folder, 'folder')
  if (userId === null || theFolder === undefined) return { faults: [], warnings: [] }
  const files = fileNames.flatMap((name) => found(join(folder, name), 'file'))
  // A folder does no harm: opening it as a file fails at once. The socket is checked where it is used.
  const kindOf = ({ mode }: Found): number => mode & constants.S_IFMT
  const irregular = files.filter(
    (file) => file.path !== join(folder, socketName) && ![constants.S_IFREG, constants.S_IFDIR].includes(kindOf(file)),
  )
  const regular = files.filter((file) => !irregular.includes(file) && kindOf(file) !== constants.S_IFLNK)
  const all = [theFolder, ...regular]
  const ofOthers = all.filter(({ uid }) => uid !== userId && uid !== rootId)
  // A group may have no other member, for example on a Kubernetes volume. So this is only a warning.
  const isOwnGroup = ({ gid }: Found): boolean => groupIds.includes(gid)
  const writable = all.filter((one) => writes(one, 'others') || (writes(one, 'group') && !isOwnGroup(one)))
  const shared = all.filter((one) => writes(one, 'group') && !writable.includes(one))
  const readable = regular.filter((file) => {
    if (writable.includes(file) || shared.includes(file)) return false
    return classes.some((other) => reads(file, other) && enters(theFolder, other))
  })
  return {
    faults: [
      ...sentenceOn(irregular, ({ path }, paths) => {
        const what = `"${path}" is a link or no regular file, so a write could change something outside the folder`
        return `${what}. Put the file itself there, or remove: ${paths}`
      }),
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

/** Root can change every file anyway, so its files are no fault. */
const rootId = 0

type Class = 'group' | 'others'
const classes: readonly Class[] = ['group', 'others']
const bits = (mode: number, of: Class): number => (of === 'group' ? mode >> 3 : mode) & 0o7
const writes = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o2) !== 0
const reads = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o4) !== 0
const enters = ({ mode }: Found, of: Class): boolean => (bits(mode, of) & 0o1) !== 0

/** Describes only the first file, to keep the message short. `paths` are for the command that repairs all. */
const sentenceOn = (found: readonly Found[], sentence: (first: Found, paths: string) => string): readonly string[] => {
  const [first] = found
  return first === undefined ? [] : [sentence(first, shellWords(found))]
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** For a POSIX shell, so that a person can paste the command. */
const shellWords = (found: readonly Found[]): string =>
  found.map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`).join(' ')
