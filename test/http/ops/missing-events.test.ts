import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PieceWriter, savedFormat } from '../../../projections/saved-pieces.ts'
import { cellarStream, keyStream, operatorStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitsHere } from '../../log/sqlite/commits-here.ts'
import { answerOf, expectRefusal } from '../../support/answers.ts'
import { harmLog } from '../../support/logs/harm.ts'
import { MemoryCheckpoints } from '../../support/logs/memory-checkpoints.ts'
import { keySuspensions } from '../../support/logs/sample-events.ts'
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
let saved: readonly Uint8Array[]
let dataDir: string
let log: EventLog
let service: Service | null = null
let thrownAway: string[]

const open = (dir: string): EventLog => openSqliteLog({ dataDir: dir, commits: commitsHere(() => {}) })

/** A log in which each stream has two rows or more, and a checkpoint of its end. */
beforeAll(async () => {
  folder = temporaryFolder()
  sound = join(folder.path, 'sound')
  mkdirSync(sound, { mode: 0o700 })
  log = open(sound)
  const logId = await ensureLogCreated(log, clock, seededEntropy(9))
  const { core, createKey, post, stop } = await startService({ log, clock })
  keys = { broken: await createKey(), other: await createKey() }
  for (const { key } of [keys.broken, keys.other, keys.broken, keys.other])
    expect((await post(validReading, key)).status).toBe(200)
  await core.cellars.rename(testCellar, 'Another title', testAsker)
  await core.keys.relabel(keys.broken.keyId, { label: 'the last event of its stream' }, testAsker)
  for (const _ of [1, 2]) await core.operators.issueLink({ email, role: 'auditor' }, testAsker)
  await core.keys.relabel(keys.other.keyId, { label: 'the last event of the log' }, testAsker)
  const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
  if (last === undefined) throw new Error('The log has no event')
  const header = new PieceWriter()
  header.whole(savedFormat)
  header.text(logId)
  header.whole(last.position)
  header.text(last.stream)
  header.whole(last.revision)
  header.text(last.id)
  saved = [header.cut(), ...Array.from(core.projections.save(), (piece) => piece.slice())]
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

const start = async ({ hasCheckpoint }: { readonly hasCheckpoint: boolean }): Promise<Service> => {
  log = open(dataDir)
  const store = new MemoryCheckpoints()
  if (hasCheckpoint) store.pieces = saved
  thrownAway = []
  const checkpoints = { store, onThrownAway: (why: string) => thrownAway.push(why) }
  service = await startService({ log, clock, checkpoints })
  return service
}

const damageOfStart = (options: { readonly hasCheckpoint: boolean }): Promise<unknown> =>
  start(options).then(
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
  test.each([...lastRowsMissing])('%s does not start without a checkpoint', async (_, stream) => {
    restore()
    deleteLastRow(stream())
    expect(await damageOfStart({ hasCheckpoint: false })).toBe('damaged')
  })

  test('a key refuses that key, and serves the others', async () => {
    restore()
    deleteLastRow(keyStream(keys.broken.keyId))
    const { post, core, ...rest } = await start({ hasCheckpoint: true })
    expectRefusal(await answerOf(await post(validReading, keys.broken.key)), 503, 'STORE_UNAVAILABLE')
    expect(await core.keys.suspend(keys.broken.keyId, 'lost', testAsker)).toEqual(unavailable)
    expect((await post(validReading, keys.other.key)).status).toBe(200)
    expectDamageTold({ post, core, ...rest }, keyStream(keys.broken.keyId))
  })

  test('readings refuses their key', async () => {
    restore()
    deleteLastRow(readingsStream(keys.other.keyId))
    const started = await start({ hasCheckpoint: true })
    expectRefusal(await answerOf(await started.post(validReading, keys.other.key)), 503, 'STORE_UNAVAILABLE')
    expectDamageTold(started, readingsStream(keys.other.keyId))
  })

  test('a cellar refuses to change that cellar', async () => {
    restore()
    deleteLastRow(cellarStream(testCellar))
    const started = await start({ hasCheckpoint: true })
    const renamed = await started.core.cellars.rename(testCellar, 'A third title', testAsker)
    expect(renamed).toEqual(unavailable)
    expectDamageTold(started, cellarStream(testCellar))
  })

  test('an operator refuses to change that operator', async () => {
    restore()
    deleteLastRow(operatorStream(email))
    const started = await start({ hasCheckpoint: true })
    const issued = await started.core.operators.issueLink({ email, role: 'auditor' }, testAsker)
    expect(issued).toEqual(unavailable)
    expectDamageTold(started, operatorStream(email))
  })
})

describe('a gap after the checkpoint', () => {
  /** Appends three readings after the checkpoint. With `isPurged`, the first two are deleted. */
  const addReadings = async ({ isPurged }: { readonly isPurged: boolean }): Promise<void> => {
    const { post, stop } = await start({ hasCheckpoint: true })
    for (const _ of [1, 2, 3]) expect((await post(validReading, keys.other.key)).status).toBe(200)
    await stop()
    service = null
    if (isPurged) await log.truncate(readingsStream(keys.other.keyId), 4)
    await log.close()
  }

  test('that a purge has left makes the start read the whole log', async () => {
    restore()
    await addReadings({ isPurged: true })
    expect(await damageOfStart({ hasCheckpoint: true })).toBe('started')
    expect(thrownAway).toEqual([expect.stringContaining('events after it were purged or lost')])
  })

  test('keeps the checkpoint if there is none', async () => {
    restore()
    await addReadings({ isPurged: false })
    expect(await damageOfStart({ hasCheckpoint: true })).toBe('started')
    expect(thrownAway).toEqual([])
  })

  test.each([true, false])('stops the start if it is damage, with a purge: %p', async (isPurged) => {
    restore()
    await addReadings({ isPurged })
    log = open(dataDir)
    await log.append('proofs-one', 'none', keySuspensions(1))
    await log.close()
    deleteLastRow(readingsStream(keys.other.keyId))
    expect(await damageOfStart({ hasCheckpoint: true })).toBe('damaged')
  })
})
