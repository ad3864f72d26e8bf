import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs } from '../../../src/domain/calendar.ts'
import { copyLog } from '../../../src/log/copy-log.ts'
import type { Commits } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitsHere } from '../../log/sqlite/commits-here.ts'
import { timesToTry } from '../../support/long-trials.ts'
import { seededEntropy, seededNumbers } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { startService, testAsker } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { pick } from './file-damage.ts'
import { eventsOf, type Heard, hear, judge, removeFolder } from './judge.ts'
import { type Files, filesIn, type MadeFolders, makeFolders, moments, writeFiles } from './made-folders.ts'
import { openNode } from './opened-node.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let made: MadeFolders

beforeAll(async () => {
  folder = temporaryFolder()
  made = await makeFolders(folder.path, Date.UTC(2026, 2, 20, 12))
})
afterAll(() => folder.remove())

let copies = 0
const folderWith = (files: Files): string => {
  const dataDir = join(folder.path, `copy-${copies++}`)
  writeFiles(dataDir, files)
  return dataDir
}
const only = (name: string, files: Files): Files => new Map([...files].filter(([each]) => each === name))

/** After a purge, the log may be read from its beginning once more. That line is no alarm. */
const isAlarm = (warning: string): boolean => !/its last event was purged|were purged or lost/.test(warning)

const expectNoAlarm = async (dataDir: string, endMs = made.endMs, context: unknown = ''): Promise<Heard> => {
  const heard = await hear(dataDir, { ...made, endMs }, { events: [], last: Number.MAX_SAFE_INTEGER })
  const refused = [...heard.served, ...heard.read].filter(([, answer]) => !('said' in answer))
  const alarms = [heard.refusal, heard.checked, heard.bugs, heard.troubles, refused, heard.warnings.filter(isAlarm)]
  expect([context, ...alarms]).toEqual([context, null, null, [], [], [], []])
  return heard
}

describe('a sound folder never alarms', () => {
  test.each(moments)('when it is a copy of a %s one', async (moment) => {
    await expectNoAlarm(folderWith(made.files[moment]))
  })

  test('when its log was restored into an empty folder', async () => {
    const dataDir = folderWith(made.files.killed)
    const events = await eventsOf(folderWith(made.files.killed), made)
    const truth = await hear(folderWith(made.files.killed), made, events)
    const restored = folderWith(new Map())
    {
      using database = new Database(join(dataDir, 'log.db'))
      database.run(`VACUUM INTO '${join(restored, 'log.db')}'`)
    }
    chmodSync(join(restored, 'log.db'), 0o600)
    for (const place of [restored, folderWith(only('log.db', made.files.closed))]) {
      const heard = await hear(place, made, events)
      expect(judge(heard, new Map([...truth.served, ...truth.read]))).toEqual({ kind: 'right', words: [] })
    }
  })

  test('when its log was copied by the program', async () => {
    const dataDir = folderWith(new Map())
    const from = openSqliteLog({ dataDir: folderWith(made.files.killed) })
    const to = openSqliteLog({ dataDir })
    const naming = { clock: manualClock(made.endMs), entropy: seededEntropy(7) }
    await copyLog({ from, to, ...naming, wait: async () => {}, onProgress: () => {} })
    await Promise.all([from.close(), to.close()])
    await expectNoAlarm(dataDir)
  })

  test('when a purge was cut off before it deleted its rows', async () => {
    const dataDir = folderWith(made.files.killed)
    const clock = manualClock(made.endMs)
    const log = openSqliteLog({ dataDir, commits: withoutTrimming })
    const service = await startService({ log, clock })
    // Otherwise the sweep below could join the one of the start, which knows no retention yet.
    await service.sweep()
    await service.core.cellars.changePolicy('beer', { retentionMs: dayMs }, testAsker)
    clock.advance(dayMs)
    await service.sweep()
    expect(rowsLeftIn(dataDir)).toBeGreaterThan(0)
    const cutOff = folderWith(filesIn(dataDir))
    await service.stop()
    await log.close()
    await expectNoAlarm(cutOff, clock.now())
    expect(rowsLeftIn(cutOff)).toBe(0)
  })

  test('after random purges, kills and lost helper files', async () => {
    for (let seed = 1; seed <= timesToTry(10, 30); seed += 1) {
      const next = seededNumbers(seed)
      const dataDir = folderWith(made.files[pick(moments, next)])
      const { files, endMs } = await liveOn(dataDir, next)
      const kept = new Map([...files].filter(([name]) => name.startsWith('log.db') || next() % 4 > 0))
      if (next() % 3 === 0) {
        for (const name of ['ask.db-wal', 'ask.db-shm']) kept.delete(name)
        for (const [name, bytes] of only('ask.db', made.files['older closed'])) kept.set(name, bytes)
      }
      const last = folderWith(kept)
      await expectNoAlarm(last, endMs, `seed ${seed}`)
      removeFolder(dataDir)
      removeFolder(last)
    }
  })
})

const withoutTrimming = (path: string): Commits => {
  const commits = commitsHere(() => {})(path)
  commits.trim = async () => ({ kind: 'not_written', reason: 'unavailable', why: 'this test stops it' })
  return commits
}

/** Counts rows that are truncated and not deleted. */
const rowsLeftIn = (dataDir: string): number => {
  using database = new Database(join(dataDir, 'log.db'))
  const sql = 'SELECT count(*) AS rows FROM events JOIN truncations USING (stream) WHERE revision + count <= kept_from'
  return database.query<{ rows: number }, []>(sql).get()?.rows ?? 0
}

/** Posts, and purges half a day after half a day. Returns the files of a killed or a closed service. */
const liveOn = async (dataDir: string, next: () => number) => {
  const clock = manualClock(made.endMs)
  const node = await openNode({ dataDir, clock, seed: 104 })
  const { core } = node.service
  for (let steps = next() % 6; steps > 0; steps -= 1) {
    const retentionMs = pick([null, dayMs, 2 * dayMs], next)
    await core.cellars.changePolicy(pick(['wine', 'beer'], next), { retentionMs }, testAsker)
    const { key, cellar } = pick(made.keys, next)
    await node.service.post({ cellar, rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-20T12:00:00Z' }, key)
    clock.advance(dayMs / 2)
    await node.service.sweep()
  }
  const killed = filesIn(dataDir)
  await node.close()
  return { files: next() % 2 === 0 ? killed : filesIn(dataDir), endMs: clock.now() }
}
