import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { cellarStream, keyStream, operatorStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitsHere } from '../../log/sqlite/commits-here.ts'
import { answerOf, expectRefusal } from '../../support/answers.ts'
import { harmLog } from '../../support/logs/harm.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

type Made = { readonly key: string; readonly keyId: string }

const email = 'new@example.org'
const clock = manualClock()
let folder: TemporaryFolder
let sound: string
let keys: { readonly broken: Made; readonly other: Made }
let dataDir: string
let log: EventLog
let service: Service | null = null

const open = (dir: string): EventLog => openSqliteLog({ dataDir: dir, commits: commitsHere(() => {}) })

/** A log in which each stream has two rows or more. */
beforeAll(async () => {
  folder = temporaryFolder()
  sound = join(folder.path, 'sound')
  mkdirSync(sound, { mode: 0o700 })
  log = open(sound)
  await ensureLogCreated(log, clock, seededEntropy(9))
  const { core, createKey, post, stop } = await startService({ log, clock })
  keys = { broken: await createKey(), other: await createKey() }
  for (const { key } of [keys.broken, keys.other, keys.broken, keys.other])
    expect((await post(validReading, key)).status).toBe(200)
  await core.cellars.rename(testCellar, 'Another title', testAsker)
  await core.keys.relabel(keys.broken.keyId, { label: 'the last event of its stream' }, testAsker)
  for (const _ of [1, 2]) await core.operators.issueLink({ email, role: 'auditor' }, testAsker)
  await core.keys.relabel(keys.other.keyId, { label: 'the last event of the log' }, testAsker)
  await stop()
  await log.close()
})
afterAll(() => folder.remove())
afterEach(async () => {
  await service?.stop()
  service = null
  await log.close()
})

let trials = 0
const restore = (): void => {
  trials += 1
  dataDir = join(folder.path, `trial-${trials}`)
  cpSync(sound, dataDir, { recursive: true })
}

const deleteLastRow = (stream: string): void =>
  harmLog(dataDir, (database) => {
    const last = 'SELECT max(position) FROM events WHERE stream = (SELECT id FROM streams WHERE name = ?)'
    expect(database.run(`DELETE FROM events WHERE position = (${last})`, [stream]).changes).toBe(1)
  })

const start = async (): Promise<Service> => {
  log = open(dataDir)
  service = await startService({ log, clock })
  return service
}

const damageOfStart = (): Promise<unknown> =>
  start().then(
    () => 'started',
    (cause: unknown) => (cause instanceof DamagedLog ? 'damaged' : cause),
  )

const expectDamageTold = ({ reasons }: Service, stream: string): void => {
  const [told, ...others] = reasons()
  expect(told).toMatchObject({ kind: 'damaged', refuses: 'nothing', why: expect.stringContaining(`"${stream}"`) })
  expect(others).toEqual([])
}

const unavailable = { ok: false, refusal: { kind: 'store_unavailable' } } as const

const lastRowsMissing: readonly [name: string, stream: () => string][] = [
  ['a key', () => keyStream(keys.broken.keyId)],
  ['readings', () => readingsStream(keys.broken.keyId)],
  ['a cellar', () => cellarStream(testCellar)],
  ['an operator', () => operatorStream(email)],
]

describe('a log whose last event is missing in the stream of', () => {
  test.each([...lastRowsMissing])('%s does not start, however often', async (_, stream) => {
    restore()
    deleteLastRow(stream())
    expect(await damageOfStart()).toBe('damaged')
    await log.close()
    expect(await damageOfStart()).toBe('damaged')
  })
})

describe('a running service, after the last event was lost in the stream of', () => {
  test('a key refuses that key, and serves the others', async () => {
    restore()
    const { post, core, ...rest } = await start()
    deleteLastRow(keyStream(keys.broken.keyId))
    expectRefusal(await answerOf(await post(validReading, keys.broken.key)), 503, 'STORE_UNAVAILABLE')
    expect(await core.keys.suspend(keys.broken.keyId, 'lost', testAsker)).toEqual(unavailable)
    expect((await post(validReading, keys.other.key)).status).toBe(200)
    expectDamageTold({ post, core, ...rest }, keyStream(keys.broken.keyId))
  })

  test('readings refuses their key', async () => {
    restore()
    const started = await start()
    deleteLastRow(readingsStream(keys.other.keyId))
    expectRefusal(await answerOf(await started.post(validReading, keys.other.key)), 503, 'STORE_UNAVAILABLE')
    expectDamageTold(started, readingsStream(keys.other.keyId))
  })

  test('a cellar refuses to change that cellar', async () => {
    restore()
    const started = await start()
    deleteLastRow(cellarStream(testCellar))
    const renamed = await started.core.cellars.rename(testCellar, 'A third title', testAsker)
    expect(renamed).toEqual(unavailable)
    expectDamageTold(started, cellarStream(testCellar))
  })

  test('an operator refuses to change that operator', async () => {
    restore()
    const started = await start()
    deleteLastRow(operatorStream(email))
    const issued = await started.core.operators.issueLink({ email, role: 'auditor' }, testAsker)
    expect(issued).toEqual(unavailable)
    expectDamageTold(started, operatorStream(email))
  })
})
