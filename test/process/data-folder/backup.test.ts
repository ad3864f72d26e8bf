import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../../../src/cli/program.ts'
import { systemClock } from '../../../src/clock.ts'
import { systemEntropy } from '../../../src/entropy.ts'
import { readLastBackup } from '../../../src/log/backup/last-backup.ts'
import { checkBackup, restoreBackup } from '../../../src/log/backup/restore-backup.ts'
import { type BackupProgress, writeBackup } from '../../../src/log/backup/write-backup.ts'
import { holdBackups } from '../../../src/log/data-folder.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { cellarbook, environmentOf, newFolder, type Ran, root } from '../../support/cellarbook.ts'
import { harmLog } from '../../support/logs/harm.ts'
import { keySuspensions } from '../../support/logs/sample-events.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())
const at = (...names: readonly string[]): string => join(folder.path, ...names)
const run = (dataDir: string, ...words: readonly string[]): Promise<Ran> =>
  cellarbook(words, { DATA_DIR: dataDir, EVENTSTORE_URL: '' })

const dataDir = at('data')
const backup = at('backup.db')
beforeAll(async () => {
  await run(dataDir, 'cellar', 'create', 'wine')
  await run(dataDir, 'key', 'create', '--cellar', 'wine')
  expect((await run(dataDir, 'backup', backup)).exitCode).toBe(0)
})

const notCalled = (): never => {
  throw new Error('must not be called')
}
const manifestOf = (path: string): Record<string, unknown> => JSON.parse(readFileSync(`${path}.json`, 'utf8'))
/** Without the lock, which stays. */
const namesIn = (path: string): readonly string[] =>
  readdirSync(path)
    .filter((name) => !name.endsWith('.lock'))
    .sort()
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('cellarbook backup', () => {
  test('writes a file and its manifest, which only their owner can read', async () => {
    const bytes = readFileSync(backup)
    expect(manifestOf(backup)).toMatchObject({
      lastPosition: 3,
      events: 3,
      streams: 3,
      bytes: bytes.length,
      sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
      logId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect([modeOf(backup), modeOf(`${backup}.json`)]).toEqual(['600', '600'])
  })

  test('is remembered in the data folder', async () => {
    const { bytes, endedAt } = manifestOf(backup)
    const last = { target: backup, lastPosition: 3, bytes, endedAt: Date.parse(String(endedAt)) }
    expect(await readLastBackup(dataDir)).toEqual(last as never)
    expect(await readLastBackup(at('nowhere'))).toBeNull()
  })

  test('replaces no file, and needs a folder for --keep', async () => {
    const before = readFileSync(backup)
    const again = await run(dataDir, 'backup', backup)
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('exists already')])
    expect(readFileSync(backup).equals(before)).toBe(true)
    expect((await run(dataDir, 'backup', at('other.db'), '--keep', '2')).exitCode).toBe(64)
    writeFileSync(at('moved.db.json'), 'the manifest of a file that was moved')
    expect((await run(dataDir, 'backup', at('moved.db'))).stderr).toContain('moved.db.json" exists already')
    expect(readFileSync(at('moved.db.json'), 'utf8')).toBe('the manifest of a file that was moved')
    expect(existsSync(at('moved.db'))).toBe(false)
  })

  test.each(['once.db', 'once.db.json'])('replaces no %s that came while it was written', async (name) => {
    const target = at(`during-${name}`)
    const path = join(target, 'once.db')
    const parts = { dataDir, target: path, keep: null, reserveBytes: 0, version: '0', now: () => 0 }
    const onProgress = ({ phase }: BackupProgress) =>
      phase === 'hashing' && writeFileSync(join(target, name), 'of another log')
    const backingUp = writeBackup({ ...parts, onProgress, onWarning: notCalled })
    await expect(backingUp).rejects.toThrow('exists already')
    const again = writeBackup({ ...parts, onProgress: notCalled, onWarning: notCalled })
    await expect(again).rejects.toThrow('exists already')
    expect(namesIn(target)).toEqual([name])
    expect(readFileSync(join(target, name), 'utf8')).toBe('of another log')
  })

  test('is refused while another backup of this log into the folder runs', async () => {
    const target = at('locked')
    mkdirSync(target)
    const release = holdBackups(target, String(manifestOf(backup)['logId']))
    const [copied, elsewhere] = [at('copied'), at('elsewhere')]
    cpSync(dataDir, copied, { recursive: true })
    const refused = await run(copied, 'backup', target)
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('Another backup of this log')])
    expect((await run(copied, 'backup', elsewhere)).exitCode).toBe(0)
    release()
    expect((await run(copied, 'backup', target)).exitCode).toBe(0)
  })

  test('makes only backup.json in the data folder, and succeeds without it', async () => {
    const [full, target] = [at('full-disk'), at('of-full-disk')]
    await run(full, 'cellar', 'create', 'wine')
    const before = readdirSync(full)
    const { lines } = await run(full, 'backup', target, '--json')
    expect(readdirSync(full).filter((name) => !before.includes(name) && !name.startsWith('log.db-'))).toEqual([
      'backup.json',
    ])
    const remembered = readFileSync(join(full, 'backup.json'), 'utf8')
    mkdirSync(join(full, 'backup.json.new'))
    const next = await run(full, 'backup', target, '--keep', '1', '--json')
    expect([next.exitCode, next.stderr]).toEqual([0, expect.stringContaining('cannot remember it')])
    expect(next.lines).toMatchObject([{ deleted: [lines[0]?.['path']] }])
    expect(readFileSync(join(full, 'backup.json'), 'utf8')).toBe(remembered)
  })

  test('succeeds with a warning if an older backup cannot be deleted', async () => {
    const target = at('stuck')
    const { lines } = await run(dataDir, 'backup', target, '--json')
    const manifestPath = `${lines[0]?.['path']}.json`
    const other = join(target, 'cellarbook-20200101T000000000Z.db')
    symlinkSync(manifestPath, `${other}.json`)
    symlinkSync(other, other)
    const { exitCode, stderr } = await run(dataDir, 'backup', target, '--keep', '1')
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('older ones cannot be deleted: ELOOP')])
  })

  test('keeps the newest of this log in a folder, and every other file', async () => {
    const target = at('rotated')
    const other = at('other')
    await run(other, 'cellar', 'create', 'wine')
    for (const from of [other, dataDir, dataDir]) expect((await run(from, 'backup', target)).exitCode).toBe(0)
    await run(dataDir, 'backup', join(target, 'before-update.db'))
    const before = readdirSync(target)
    const { lines } = await run(dataDir, 'backup', target, '--keep', '2', '--json')
    const [, second, third] = before.filter((name) => /^cellarbook-.*\.db$/.test(name)).sort()
    expect(lines).toMatchObject([{ deleted: [join(target, second ?? '')] }])
    expect(third).toBeDefined()
    const added = String(lines[0]?.['path']).slice(target.length + 1)
    const left = before.filter((name) => !name.startsWith(second ?? ''))
    expect(readdirSync(target).sort()).toEqual([...left, added, `${added}.json`].sort())
  })

  test('keeps the newest by name, whatever time a manifest has', async () => {
    const target = at('timeless')
    const made: string[] = []
    for (const _ of Array(3)) made.push(String((await run(dataDir, 'backup', target, '--json')).lines[0]?.['path']))
    const [oldest = '', ...newer] = made
    for (const path of newer)
      writeFileSync(`${path}.json`, JSON.stringify({ ...manifestOf(path), endedAt: '2000-01-01T00:00:00.000Z' }))
    const { lines } = await run(dataDir, 'backup', target, '--keep', '3', '--json')
    expect(lines).toMatchObject([{ deleted: [oldest] }])
  })

  test('deletes no file that is not what its manifest says', async () => {
    const target = at('changed')
    const { lines } = await run(dataDir, 'backup', target, '--json')
    const first = String(lines[0]?.['path'])
    writeFileSync(first, 'a letter')
    expect((await run(dataDir, 'backup', target, '--keep', '1', '--json')).lines).toMatchObject([{ deleted: [] }])
    expect(readFileSync(first, 'utf8')).toBe('a letter')
  })

  test('clears what a killed backup left, and keeps manifests of moved files', async () => {
    const target = at('killed')
    mkdirSync(target)
    const { logId } = manifestOf(backup)
    const manifest = readFileSync(`${backup}.json`, 'utf8')
    const compressed = 'cellarbook-20200101T000000000Z.db.json'
    writeFileSync(join(target, compressed), manifest)
    writeFileSync(join(target, `.cellarbook-${logId}.partial`), 'half')
    const { lines, stderr } = await run(dataDir, 'backup', target, '--keep', '1', '--json')
    expect(stderr).not.toContain('warning')
    const name = String(lines[0]?.['path']).slice(target.length + 1)
    expect(namesIn(target)).toEqual([compressed, name, `${name}.json`])
  })

  test('writes nothing where the disk has too little room besides the reserve', async () => {
    const environment = { DATA_DIR: dataDir, EVENTSTORE_URL: '', DISK_RESERVE: '8191TiB' }
    const { exitCode, stderr } = await cellarbook(['backup', at('full')], environment)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the disk has too little room')])
    expect(namesIn(at('full'))).toEqual([])
  })

  test('leaves nothing when the disk takes no more bytes', async () => {
    const large = at('large')
    cpSync(dataDir, large, { recursive: true })
    const log = openSqliteLog({ dataDir: large })
    await log.append('key-large', 'none', keySuspensions(2_000))
    await log.close()
    // A shell can bound the size of files, but not the room on a disk. SQLite's other files are smaller than this bound.
    const bounded = 'trap "" XFSZ; ulimit -f 128; exec "$@"'
    const words = [process.execPath, join(root, 'src/main.ts'), 'backup', at('bounded')]
    const child = Bun.spawn(['sh', '-c', bounded, 'sh', ...words], {
      cwd: root,
      env: environmentOf({ DATA_DIR: large, EVENTSTORE_URL: '' }),
      stderr: 'pipe',
    })
    expect(await new Response(child.stderr).text()).toContain('Cannot write the backup to')
    expect(await child.exited).toBe(1)
    expect(namesIn(at('bounded'))).toEqual([])
  })

  test('of a damaged log ends with 65, and leaves nothing', async () => {
    const damaged = at('damaged')
    cpSync(dataDir, damaged, { recursive: true })
    harmLog(damaged, (database) => database.run('UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 2'))
    const { exitCode, stderr } = await run(damaged, 'backup', at('of-damaged'))
    expect([exitCode, stderr]).toEqual([65, expect.stringContaining('the row does not match its checksum')])
    expect(namesIn(at('of-damaged'))).toEqual([])
  })

  test('of a log without its end is refused', async () => {
    const older = at('older')
    cpSync(dataDir, older, { recursive: true })
    harmLog(older, (database) => database.run('DELETE FROM events WHERE position = 3'))
    const { exitCode, stderr } = await run(older, 'backup', at('of-older'))
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining('it has lost events')])
    expect(existsSync(at('of-older'))).toBe(false)
  })

  test('refuses the data folder, a place without a log, and EventStoreDB', async () => {
    symlinkSync(dataDir, at('link'))
    expect((await run(dataDir, 'backup', at('link'))).stderr).toContain('it would be lost with the log')
    mkdirSync(at('own', 'below'), { recursive: true })
    cpSync(dataDir, at('own'), { recursive: true })
    const below = await run(at('own'), 'backup', at('own', 'below', 'new'))
    expect(below.stderr).toContain('it would be lost with the log')
    expect(readdirSync(at('own', 'below'))).toEqual([])
    expect((await run(at('nowhere'), 'backup', at('new'))).exitCode).toBe(78)
    const store = await cellarbook(['backup', at('new')], {
      DATA_DIR: dataDir,
      EVENTSTORE_URL: 'esdb://localhost:1?tls=false',
    })
    expect([store.exitCode, store.stderr]).toEqual([78, expect.stringContaining('it is in EventStoreDB. See docs/')])
    expect(existsSync(at('new'))).toBe(false)
  })
})

describe('cellarbook restore', () => {
  test('says what is in a backup, and asks before it restores', async () => {
    const { exitCode, stdout, stderr } = await run(at('asked'), 'restore', backup)
    expect(stdout).toMatch(/events +3\nkeys +1\ncellars +1\nlast position +3, recorded at /)
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/revoked .* are active again.*add --yes\.\n$/)])
    expect(existsSync(at('asked'))).toBe(false)
  })

  test('asks on a terminal, and restores only after a yes', async () => {
    const asked = async (answer: boolean): Promise<readonly unknown[]> => {
      const told: unknown[] = []
      const write = (text: string) => told.push(text)
      const found = await checkBackup(backup, { dataDir: at('asked'), onProgress: () => {} })
      const exitCode = await runProgram(['restore', backup], {
        version: '0',
        environment: {},
        output: { write: async () => {}, flush: async () => {} },
        screen: { write },
        now: () => 0,
        ask: () => answer,
        serve: notCalled,
        checkFiles: notCalled,
        perform: notCalled,
        copyLog: notCalled,
        verifyLog: notCalled,
        backup: notCalled,
        checkBackup: async () => found,
        restore: async () => void told.push('restored'),
      })
      return [exitCode, told.includes('restored')]
    }
    expect([await asked(false), await asked(true)]).toEqual([
      [1, false],
      [0, true],
    ])
  })

  test('restores a sound log with a new id, and records that', async () => {
    const restored = at('restored')
    chmodSync(backup, 0o444)
    expect((await run(restored, 'restore', `${backup}.json`, '--yes')).exitCode).toBe(0)
    expect(readdirSync(restored).filter((name) => !name.startsWith('log.lock'))).toEqual(['log.db'])
    expect([modeOf(restored), modeOf(join(restored, 'log.db'))]).toEqual(['700', '600'])
    expect((await run(restored, 'log', 'verify')).exitCode).toBe(0)
    const { lines } = await run(restored, 'log', 'read', '--json')
    const { logId, lastRecordedAt } = manifestOf(backup)
    expect(lines).toHaveLength(4)
    expect(lines[3]).toMatchObject({
      type: 'LogRestored',
      position: '4',
      data: { lastPosition: 3, lastRecordedAt: Date.parse(String(lastRecordedAt)) },
      metadata: { by: { kind: 'cli' } },
    })
    const next = await run(restored, 'backup', at('next.db'), '--json')
    expect(next.lines[0]?.['logId']).not.toBe(logId)
    expect(manifestOf(at('next.db'))['logId']).toBe(Object(lines[3]?.['data']).restoredId)
  })

  test('refuses a folder that is not empty', async () => {
    const used = at('used')
    mkdirSync(used)
    writeFileSync(join(used, 'readings.db'), '')
    const { exitCode, stderr } = await run(used, 'restore', backup, '--yes')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('it is not empty, and has "readings.db"')])
    expect(readdirSync(used)).toEqual(['readings.db'])
  })

  test('goes on after a restore that was killed', async () => {
    const killed = at('killed-restore')
    mkdirSync(join(killed, 'restore.partial'), { recursive: true, mode: 0o700 })
    writeFileSync(join(killed, 'restore.partial', 'log.db'), 'half')
    expect((await run(killed, 'restore', backup, '--yes')).exitCode).toBe(0)
    expect(readdirSync(killed).filter((name) => !name.startsWith('log.lock'))).toEqual(['log.db'])
  })

  test('refuses a changed file, by its checksum and by its rows', async () => {
    const changed = at('changed.db')
    const bytes = readFileSync(backup)
    bytes[bytes.indexOf('KeyCreated')] = 0x4a
    writeFileSync(changed, bytes)
    const byRows = await run(at('never'), 'restore', changed, '--yes')
    expect([byRows.exitCode, byRows.stderr]).toEqual([65, expect.stringContaining('does not match its checksum')])
    cpSync(`${backup}.json`, `${changed}.json`)
    const byManifest = await run(at('never'), 'restore', changed, '--yes')
    expect([byManifest.exitCode, byManifest.stderr]).toEqual([65, expect.stringContaining('its SHA-256 is not that')])
    writeFileSync(`${changed}.json`, readFileSync(`${changed}.json`).subarray(0, 40))
    const cutOff = await run(at('never'), 'restore', changed, '--yes')
    expect([cutOff.exitCode, cutOff.stderr]).toEqual([65, expect.stringContaining('is no manifest of a backup')])
    expect(existsSync(at('never'))).toBe(false)
  })

  test('refuses a log of which a part is in its write-ahead log', async () => {
    const running = at('running')
    cpSync(dataDir, running, { recursive: true })
    const log = openSqliteLog({ dataDir: running })
    await log.append('key-later', 'none', keySuspensions(1))
    const { exitCode, stderr } = await run(at('never'), 'restore', join(running, 'log.db'), '--yes')
    await log.close()
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`is in "${join(running, 'log.db-wal')}"`)])
    expect(existsSync(at('never'))).toBe(false)
    expect((await run(at('stopped'), 'restore', join(running, 'log.db'), '--yes')).exitCode).toBe(0)
  })

  test('refuses a copy that ends earlier than the checked backup', async () => {
    const found = await checkBackup(backup, { dataDir: at('shorter'), onProgress: () => {} })
    const naming = { dataDir: at('shorter'), allowShared: false, clock: systemClock, entropy: systemEntropy }
    const restored = restoreBackup({ ...found, lastPosition: found.lastPosition + 1 }, naming)
    await expect(restored).rejects.toThrow('it has changed')
    expect(existsSync(at('shorter', 'log.db'))).toBe(false)
  })

  test('refuses what is no backup', async () => {
    const missing = await run(at('never'), 'restore', at('nothing.db'), '--yes')
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('there is no file')])
    writeFileSync(at('letter.db'), 'Dear Ada, …')
    expect((await run(at('never'), 'restore', at('letter.db'), '--yes')).exitCode).toBe(65)
    expect(existsSync(at('never'))).toBe(false)
  })
})
