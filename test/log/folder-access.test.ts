import { describe, expect, test } from 'bun:test'
import { checkDataFolder, DataFolderShared } from '../../src/log/data-folder.ts'
import { inspectDataFolder, type OwnerAndMode, type Surroundings } from '../../src/log/folder-access.ts'

const [own, other, ownGroup, otherGroup] = [1000, 1001, 100, 200]
const folder = '/data'

type Look = Partial<OwnerAndMode>

/** A folder that only its own user can reach, except for the given changes. */
const surroundings = (
  { itself = {}, log = {}, wal = null }: { itself?: Look; log?: Look; wal?: Look | null },
  userId: number | null = own,
): Surroundings => {
  const found = new Map<string, OwnerAndMode>([
    [folder, { uid: own, gid: ownGroup, mode: 0o40700, ...itself }],
    [`${folder}/log.db`, { uid: own, gid: ownGroup, mode: 0o100600, ...log }],
  ])
  if (wal !== null) found.set(`${folder}/log.db-wal`, { uid: own, gid: ownGroup, mode: 0o100600, ...wal })
  return { userId, groupIds: [ownGroup], look: (path) => found.get(path) ?? null }
}

const inspect = (...parameters: Parameters<typeof surroundings>) =>
  inspectDataFolder(folder, surroundings(...parameters))

describe('inspectDataFolder()', () => {
  test('accepts files of the service, and a missing folder', () => {
    expect(inspect({ wal: {} })).toEqual({ faults: [], warnings: [] })
    const nothing = { userId: own, groupIds: [], look: () => null }
    expect(inspectDataFolder(folder, nothing)).toEqual({ faults: [], warnings: [] })
  })

  test('refuses files that others can write, and says what to run', () => {
    const { faults } = inspect({ itself: { mode: 0o40777 }, wal: { mode: 0o100602 } })
    const what = '"/data" can be written by other users (mode 0777), so they can change the log'
    expect(faults).toEqual([`${what}. Run: chmod go-w '/data' '/data/log.db-wal'`])
    expect(inspect({ log: { mode: 0o100602 } }).faults).toHaveLength(1)
    // The sticky bit only protects files of other users, as in a temporary folder. Other users can still create files there.
    expect(inspect({ itself: { mode: 0o41777 } }).faults).toHaveLength(1)
  })

  test.each(['idempotency.db', 'ask.db', 'ask.db-wal', 'ask.db-shm', 'webhook-master'])(
    'refuses %s that others can write',
    (name) => {
      const look = (path: string): OwnerAndMode | null =>
        path.endsWith(name) || path === folder
          ? { uid: own, gid: ownGroup, mode: path === folder ? 0o40700 : 0o100602 }
          : null
      const { faults } = inspectDataFolder(folder, { userId: own, groupIds: [ownGroup], look })
      expect(faults).toEqual([expect.stringContaining(name)])
    },
  )

  test('refuses files of another user, but not of root', () => {
    const { faults } = inspect({ itself: { uid: other }, log: { uid: other } })
    const what = '"/data" belongs to user 1001, and this process runs as user 1000'
    expect(faults).toEqual([`${what}. Run it as user 1001, or run as root: chown 1000 '/data' '/data/log.db'`])
    expect(inspect({ log: { uid: other } }).faults).toHaveLength(1)
    expect(inspect({ itself: { uid: 0 }, log: { uid: 0 } }).faults).toEqual([])
  })

  test('refuses a folder of another user also for root', () => {
    expect(inspect({}, 0).faults).toHaveLength(1)
    expect(inspect({ itself: { uid: 0 }, log: { uid: 0 } }, 0).faults).toEqual([])
  })

  test('refuses files writable by a foreign group, and warns of an own group', () => {
    expect(inspect({ itself: { mode: 0o40770, gid: otherGroup } }).faults).toHaveLength(1)
    expect(inspect({ itself: { mode: 0o40770 }, log: { mode: 0o100660 } })).toEqual({
      faults: [],
      warnings: [
        `"/data" can be written by every member of group 100. If the group has other members, run: chmod g-w '/data' '/data/log.db'`,
      ],
    })
  })

  test('warns of files that others can read through the folder', () => {
    const log = { mode: 0o100644 }
    expect(inspect({ itself: { mode: 0o40755 }, log })).toEqual({
      faults: [],
      warnings: [
        `"/data/log.db" can be read by other users: it holds e-mail addresses and password hashes. Run: chmod go= '/data/log.db'`,
      ],
    })
    expect(inspect({ log }).warnings).toEqual([])
    expect(inspect({ itself: { mode: 0o40755 } }).warnings).toEqual([])
  })

  test('quotes paths for the shell, and accepts systems without user ids', () => {
    const look = (path: string) => ({ uid: own, gid: ownGroup, mode: path.endsWith('sock') ? 0o140777 : 0o100777 })
    const { faults } = inspectDataFolder("/it's", { userId: own, groupIds: [], look })
    expect(faults[0]).toContain("chmod go-w '/it'\\''s' ")
    expect(inspect({ itself: { mode: 0o40777 } }, null)).toEqual({ faults: [], warnings: [] })
  })
})

describe('checkDataFolder()', () => {
  test('throws all faults in one message, or returns accepted ones as warnings', () => {
    const shared = surroundings({ itself: { mode: 0o40777 }, log: { uid: other } })
    const refused = () => checkDataFolder(folder, { allowShared: false }, shared)
    expect(refused).toThrow(DataFolderShared)
    expect(refused).toThrow(/belongs to user 1001.* can be written by other users.* ALLOW_SHARED_DATA_DIR=1$/)
    expect(checkDataFolder(folder, { allowShared: true }, shared)).toHaveLength(2)
  })
})
