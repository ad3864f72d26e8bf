import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { watchHealth } from '../../../src/health.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { readWitness, saltsAt } from '../../../src/log/tail/witness-file.ts'
import { keySuspensions } from '../../support/logs/sample-events.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { startService, validReading } from '../../support/test-service.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'
import { eventsOf, folderWith, type Moment, momentsOf } from './killed-log.ts'

let folder: TemporaryFolder
let moments: readonly Moment[]

beforeAll(async () => {
  folder = temporaryFolder()
  moments = await momentsOf(folderWith(folder.path, {}), 12)
})
afterAll(() => folder.remove())

const lastPositionIn = (events: readonly string[]): number => Number(events.at(-1)?.split(' ')[0])
const witnessIn = (dataDir: string) => readWitness(join(dataDir, 'log.witness'))

describe('the witness', () => {
  test('names the last position after each commit', () => {
    for (const { files, events } of moments) {
      const dataDir = folderWith(folder.path, files)
      expect(witnessIn(dataDir)?.position).toBe(lastPositionIn(events))
    }
  })

  test('knows the salts of a write-ahead log that has begun anew', async () => {
    const dataDir = folderWith(folder.path, {})
    const log = openSqliteLog({ dataDir })
    await ensureLogCreated(log, manualClock(), seededEntropy())
    const salts: number[] = []
    for (let anew = 0; anew < 3; anew += 1) {
      for (const stream of ['key-1', 'key-2']) await log.append(`${stream}-${anew}`, 'none', keySuspensions(5))
      const head = readFileSync(join(dataDir, 'log.db-wal'))
      expect(witnessIn(dataDir)?.wal).toMatchObject({
        firstSalt: head.readUInt32BE(saltsAt),
        secondSalt: head.readUInt32BE(saltsAt + 4),
      })
      salts.push(head.readUInt32BE(saltsAt))
      using other = new Database(join(dataDir, 'log.db'))
      other.run('PRAGMA wal_checkpoint(RESTART)')
    }
    expect(new Set(salts).size).toBe(3)
    await log.close()
  })

  test('is made for a log that has none, for its owner only', async () => {
    const last = moments.at(-1)
    const dataDir = folderWith(folder.path, last?.files ?? {})
    const path = join(dataDir, 'log.witness')
    rmSync(path)
    const log = openSqliteLog({ dataDir })
    expect(await eventsOf(log)).toEqual([...(last?.events ?? [])])
    await log.close()
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
    expect(witnessIn(dataDir)?.position).toBe(lastPositionIn(last?.events ?? []))
  })
})

describe('a witness that cannot be written', () => {
  test('is told in one warning, and is written as soon as that works again', async () => {
    const dataDir = folderWith(folder.path, {})
    const path = join(dataDir, 'log.witness')
    const log = openSqliteLog({ dataDir })
    mkdirSync(path)
    await ensureLogCreated(log, manualClock(), seededEntropy())
    const service = await startService({ log })
    const schedule = drivenSchedule()
    const lines: string[] = []
    const line = (level: string) => (what: string) => lines.push(`${level}: ${what}`)
    const sink = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
    const forget = watchHealth(service.reasons, sink, schedule)

    const { key } = await service.createKey()
    await until(() => service.reasons().length > 0)
    await schedule.advance(2 * heartbeatMs)
    expect((await service.post(validReading, key)).status).toBe(200)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    rmdirSync(path)
    expect((await service.post(validReading, key)).status).toBe(200)
    await until(() => service.reasons().length === 0)
    await schedule.advance(heartbeatMs)
    const what = 'The file log.witness cannot be written.'
    expect(lines).toEqual([`warn: ${what}`, `info: It is over: ${what}`])
    expect(witnessIn(dataDir)?.position).toBe(lastPositionIn(await eventsOf(log)))

    forget()
    await service.stop()
    await log.close()
  })
})
