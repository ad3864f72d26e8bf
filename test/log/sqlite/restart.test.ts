import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { caughtUp, collect } from '../../support/logs/collector.ts'
import { keySuspended, keySuspensions, reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const readWholeLog = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const collector = collect(log, { after: null })
  await collector.until(caughtUp)
  collector.subscription.unsubscribe()
  return collector.events
}

describe('a log that is opened again', () => {
  test('has all its events, and continues behind them', async () => {
    const first = openSqliteLog({ dataDir: folder.path })
    const readings = [reading('readings-one'), reading('readings-one')]
    await first.append('key-one', 'none', keySuspensions(3))
    await first.append('readings-one', 'none', readings)
    const before = await readWholeLog(first)
    await first.close()

    const second = openSqliteLog({ dataDir: folder.path })
    expect(await readWholeLog(second)).toEqual([...before])
    expect(await second.append('readings-one', 'none', readings)).toMatchObject({ outcome: 'already_written' })
    expect(await second.append('key-one', 1, [keySuspended()])).toEqual({ outcome: 'conflict', currentRevision: 2 })
    expect(await second.append('key-one', 2, [keySuspended()])).toMatchObject({
      outcome: 'written',
      events: [{ revision: 3, position: 6 }],
    })
    expect(await second.append('key-two', 'none', [keySuspended()])).toMatchObject({
      outcome: 'written',
      events: [{ revision: 0, position: 7 }],
    })
    await second.close()
  })

  test('lets a follower resume from the position it had', async () => {
    const first = openSqliteLog({ dataDir: folder.path })
    await first.append('key-one', 'none', keySuspensions(5))
    await first.close()
    const second = openSqliteLog({ dataDir: folder.path })
    const collector = collect(second, { after: 3 })
    await collector.until(caughtUp)
    await second.append('key-one', 4, [keySuspended()])
    expect(collector.events.map((event) => event.position)).toEqual([4, 5, 6])
    await second.close()
  })

  test('leaves one file beside its lock when closed', async () => {
    const log = openSqliteLog({ dataDir: folder.path })
    await log.append('key-one', 'none', [keySuspended()])
    await log.close()
    expect([...new Bun.Glob('*').scanSync(folder.path)].toSorted()).toEqual(['log.db', 'log.lock'])
  })
})

describe('a write-ahead log of a killed process', () => {
  /** Copies the log's files before it is closed, as a killed process leaves them. */
  const abandoned = async (): Promise<string> => {
    const log = openSqliteLog({ dataDir: folder.path })
    await log.append('key-one', 'none', keySuspensions(3))
    const copy = join(folder.path, 'copy')
    mkdirSync(copy)
    for (const file of ['log.db', 'log.db-wal']) copyFileSync(join(folder.path, file), join(copy, file))
    await log.close()
    return copy
  }
  const eventsWithoutWal = (dataDir: string): unknown => {
    const path = join(dataDir, 'alone.db')
    copyFileSync(join(dataDir, 'log.db'), path)
    const database = new Database(path)
    const [[events] = []] = database.query('SELECT coalesce(sum(count), 0) FROM events').values()
    database.close()
    return events
  }

  test('is synced before its events count as written', async () => {
    const dataDir = await abandoned()
    expect(eventsWithoutWal(dataDir)).toBe(0)
    const log = openSqliteLog({ dataDir })
    expect(eventsWithoutWal(dataDir)).toBe(3)
    expect(await log.readAll({ limit: 10 })).toHaveLength(3)
    await log.close()
  })

  test('fails the start when another program blocks', async () => {
    const dataDir = await abandoned()
    const other = new Database(join(dataDir, 'log.db'))
    other.run('BEGIN IMMEDIATE')
    expect(() => openSqliteLog({ dataDir })).toThrow(/another program reads or writes it/)
    other.run('ROLLBACK')
    other.close()
    await openSqliteLog({ dataDir }).close()
  })
})

describe('a process killed while it appends', () => {
  const runAndKill = async (afterLines: number): Promise<readonly string[]> => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'appending-child.ts'), folder.path], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    let text = ''
    let isKilled = false
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (isKilled || text.split('\n').length < afterLines) continue
      child.kill('SIGKILL')
      isKilled = true
    }
    await child.exited
    // The kill may have cut off the last line.
    return text.split('\n').slice(0, -1)
  }

  test('loses no answered append, leaves no gap', async () => {
    const acknowledged: string[] = []
    for (let round = 1; round <= 5; round++) {
      const lines = await runAndKill(200 * round)
      expect(lines.length).toBeGreaterThanOrEqual(200 * round - 1)
      acknowledged.push(...lines)

      const log = openSqliteLog({ dataDir: folder.path })
      const events = await readWholeLog(log)
      await log.close()
      const stored = new Set(events.map(({ stream, revision, id }) => `${stream} ${revision} ${id}`))
      expect(acknowledged.filter((line) => !stored.has(line))).toEqual([])
      expect(stored.size).toBe(events.length)
      for (const [stream, own] of Map.groupBy(events, (event) => event.stream)) {
        expect([stream, own.map((event) => event.revision)]).toEqual([stream, own.map((_, index) => index)])
      }
    }
  }, 600_000)
})
