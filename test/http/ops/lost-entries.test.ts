import type { SQLQueryBindings } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NewEvent } from '../../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { revisionsIndex } from '../../../src/log/verify/checked-file.ts'
import { commitsHere } from '../../log/sqlite/commits-here.ts'
import { harmLog, losingIndexWrite } from '../../support/logs/harm.ts'
import { keySuspended, reading } from '../../support/logs/sample-events.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

const clock = manualClock()
let folder: TemporaryFolder
let sound: string
let made: { readonly key: string; readonly keyId: string }
let dataDir: string
let service: Service | null = null
let told: string[]

/** One test leaves spaces in the schema. */
const acceptSchema = (): void => {}
const open = (dir = dataDir): EventLog => openSqliteLog({ dataDir: dir, commits: commitsHere(() => {}), acceptSchema })

beforeAll(async () => {
  folder = temporaryFolder()
  sound = join(folder.path, 'sound')
  mkdirSync(sound, { mode: 0o700 })
  const log = open(sound)
  await ensureLogCreated(log, clock, seededEntropy(9))
  const first = await startService({ log, clock })
  made = await first.createKey()
  expect((await first.post(validReading, made.key)).status).toBe(200)
  await first.stop()
  await log.close()
})
afterAll(() => folder.remove())
afterEach(async () => {
  await service?.stop()
  await service?.log.close()
  service = null
})

let trials = 0
const restore = (): void => {
  trials += 1
  dataDir = join(folder.path, `trial-${trials}`)
  cpSync(sound, dataDir, { recursive: true })
}

const start = async (): Promise<Service> => {
  told = []
  service = await startService({ log: open(), clock, onBugs: { onWholeRead: (why) => told.push(why) } })
  return service
}

const appendLast = async (stream: string, event: NewEvent): Promise<void> => {
  const log = open()
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  expect((await log.append(stream, last?.revision ?? 'none', [event])).outcome).toBe('written')
  await log.close()
}

const revoked = (): Promise<void> =>
  appendLast(keyStream(made.keyId), {
    ...keySuspended('stolen'),
    type: 'KeyRevoked',
    data: { reason: 'stolen', sealId: 's' },
  })
const sealed = (): Promise<void> =>
  appendLast(readingsStream(made.keyId), {
    ...keySuspended('stolen'),
    type: 'ReadingsSealed',
    data: { reason: 'stolen' },
  })
const accepted = (): Promise<void> => appendLast(readingsStream(made.keyId), reading(readingsStream(made.keyId)))

const losing = {
  texts: (change: () => Promise<void>) => losingIndexWrite(dataDir, 'texts', change),
  revisions: (change: () => Promise<void>) => losingIndexWrite(dataDir, revisionsIndex, change),
  'both indexes': (change: () => Promise<void>) =>
    losingIndexWrite(dataDir, 'texts', () => losingIndexWrite(dataDir, revisionsIndex, change)),
} as const
type Losing = keyof typeof losing

describe('a start after the newest entry was lost of', () => {
  test.each(Object.keys(losing) as Losing[])('%s knows that the key was revoked', async (index) => {
    restore()
    await losing[index](revoked)
    const { post } = await start()
    expect((await post(validReading, made.key)).status).toBe(401)
    expect(told).toHaveLength(1)
  })

  test.each(Object.keys(losing) as Losing[])('%s knows that the readings were sealed', async (index) => {
    restore()
    await losing[index](sealed)
    const { core } = await start()
    expect(core.projections.readings.barriers(made.keyId)).toMatchObject([{ type: 'ReadingsSealed', revision: 1 }])
    expect(told).toHaveLength(1)
  })

  test('revisions counts the last reading', async () => {
    restore()
    await losing.revisions(accepted)
    const { core } = await start()
    expect(core.projections.readings.usage(made.keyId)).toMatchObject({ accepted: 2, last: { revision: 1 } })
    expect(told).toHaveLength(1)
  })
})

/** Loses the entry of a row, but not those of later ones. */
const losingEntryAt = (revision: number): Promise<void> => {
  let row: SQLQueryBindings[] = []
  const of = `stream = (SELECT id FROM streams WHERE name = '${readingsStream(made.keyId)}') AND revision = ${revision}`
  harmLog(dataDir, (database) => {
    row = database.query(`SELECT * FROM events WHERE ${of}`).values()[0] ?? []
    database.run(`DELETE FROM events WHERE ${of}`)
  })
  return losingIndexWrite(dataDir, revisionsIndex, () =>
    harmLog(dataDir, (database) => database.run('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)', row)),
  )
}

test.each([1, 2])('a start meets the lost entry of the last of %i readings before a seal', async (readings) => {
  restore()
  if (readings === 2) await accepted()
  await sealed()
  await losingEntryAt(readings - 1)
  const { core } = await start()
  expect(core.projections.readings.usage(made.keyId)).toMatchObject({
    accepted: readings,
    last: { revision: readings - 1 },
  })
  expect(told).toEqual([expect.stringContaining('an index of the file does not match its table')])
})

test('a start without the index of texts reads the whole log, and is no trouble', async () => {
  restore()
  await revoked()
  harmLog(dataDir, (database) => database.run('DROP INDEX texts'))
  const { post, log } = await start()
  expect((await post(validReading, made.key)).status).toBe(401)
  expect([told, log.troubles?.()]).toEqual([['the index texts is missing or was changed'], []])
})

test('a start after a failed start works', async () => {
  restore()
  await revoked()
  const change = (by: number): void =>
    harmLog(dataDir, (database) =>
      database.run(`UPDATE events SET recorded_at = recorded_at + ${by} WHERE position = 1`),
    )
  change(1)
  const log = open()
  await expect(startService({ log, clock })).rejects.toBeInstanceOf(DamagedLog)
  await log.close()
  change(-1)
  const { post } = await start()
  expect((await post(validReading, made.key)).status).toBe(401)
  expect(told).toEqual([])
})

test('a start meets an entry of the index of texts that is missing before others', async () => {
  restore()
  await appendLast(keyStream(made.keyId), keySuspended('cleaning'))
  await revoked()
  harmLog(dataDir, (database) => {
    const last = database.query<{ position: number }, []>('SELECT max(position) AS position FROM events').get()
    database.run('DROP INDEX texts')
    const rule = `typeof(body) = 'text' AND position <> ${(last?.position ?? 0) - 1}`
    database.run(`CREATE INDEX texts ON events (position, stream) WHERE ${rule}`)
  })
  const path = join(dataDir, 'log.db')
  const file = readFileSync(path, 'latin1')
  const [rule = ''] = /'text' AND position <> [0-9 ]+/.exec(file) ?? []
  writeFileSync(path, file.replaceAll(rule, "'text'".padEnd(rule.length)), 'latin1')
  const { post } = await start()
  expect((await post(validReading, made.key)).status).toBe(401)
  expect(told).toEqual([expect.stringContaining('an index of the file does not match its table')])
})

test('a start reads no more than it needs when all entries are there', async () => {
  restore()
  await sealed()
  await revoked()
  const { post } = await start()
  expect((await post(validReading, made.key)).status).toBe(401)
  expect(told).toEqual([])
})
