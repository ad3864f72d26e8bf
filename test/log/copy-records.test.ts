import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordCategories } from '../../src/domain/stream-names.ts'
import { copyLog } from '../../src/log/copy-log.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { newFolder } from '../support/cellarbook.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { freshPrefix, openAt } from '../support/logs/event-store-log.ts'
import { keySuspended, readingsRefused, recordsPurged, startMs } from '../support/logs/sample-events.ts'
import { addUnknownToFile, addUnknownToServer, unknownType } from '../support/logs/unknown-records.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { manualClock } from '../support/time/manual-clock.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

let server: LogServer
const ends: (() => unknown)[] = []
beforeEach(async () => {
  server = await startLogServer()
  ends.push(() => server.stop())
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const opened = (log: EventLog): EventLog => {
  ends.push(() => log.close())
  return log
}

type Place = { open(): Promise<EventLog>; addUnknown(stream: string): void }

const inFile = (): Place => {
  const folder = newFolder()
  ends.push(() => folder.remove())
  return {
    open: async () => opened(openSqliteLog({ dataDir: folder.path })),
    addUnknown: (stream) => addUnknownToFile(folder.path, stream, startMs),
  }
}

const onServer = (): Place => {
  const prefix = freshPrefix()
  return {
    open: async () => opened(await openAt(server.url, prefix)),
    addUnknown: (stream) => addUnknownToServer(server.state, prefix + stream, startMs),
  }
}

const naming = () => ({ clock: manualClock(), entropy: seededEntropy(7) })
const copy = (from: EventLog, to: EventLog) =>
  copyLog({ from, to, ...naming(), wait: async () => {}, onProgress: () => {} })

const streams = recordCategories.map((category) => `${category}-node`)

/** In each category of records, three are written, and the first two are purged. */
const fill = async (log: EventLog): Promise<void> => {
  await ensureLogCreated(log, manualClock(), seededEntropy(1))
  await log.append('key-one', 'none', [keySuspended('before')])
  for (const stream of streams) {
    await log.append(stream, 'none', [recordsPurged(), recordsPurged()])
    await log.append(stream, 1, [readingsRefused()])
    await log.truncate(stream, 2)
  }
  await log.append('key-one', 0, [keySuspended('after')])
}

const directions = [
  { title: 'from the file to the store', from: inFile, to: onServer },
  { title: 'from the store to the file', from: onServer, to: inFile },
]

describe.each(directions)('records that are copied $title', ({ from, to }) => {
  test('keep revisions, ids and times, without purged records', async () => {
    const [source, target] = [await from().open(), await to().open()]
    await fill(source)
    await copy(source, target)
    for (const stream of streams) {
      const [record, ...others] = await target.read(stream, { limit: 10 })
      const [original] = await source.read(stream, { limit: 10 })
      expect([record?.revision, others]).toEqual([2, []])
      expect({ ...record, position: 0 }).toEqual({ ...original, position: 0 })
      expect(await target.append(stream, 2, [recordsPurged()])).toMatchObject({ outcome: 'written' })
    }
  })

  test.each(streams)('are refused with revision and type when unreadable in %s', async (stream) => {
    const place = from()
    const before = await place.open()
    await fill(before)
    await before.close()
    place.addUnknown(stream)
    const refused = await copy(await place.open(), await to().open()).catch((cause: unknown) => cause)
    expect(refused).toMatchObject({
      name: 'CopyRefused',
      message: expect.stringContaining(`revision 3 of "${stream}": this version does not know its type`),
    })
  })

  test('are copied when the unreadable record was purged', async () => {
    const place = from()
    const before = await place.open()
    await fill(before)
    await before.close()
    for (const stream of streams) place.addUnknown(stream)
    const source = await place.open()
    for (const stream of streams) {
      await source.append(stream, 3, [recordsPurged()])
      await source.truncate(stream, 4)
    }
    const target = await to().open()
    await copy(source, target)
    for (const stream of streams) {
      expect(await target.read(stream, { limit: 10 })).toMatchObject([{ revision: 4, type: 'RecordsPurged' }])
    }
    expect(JSON.stringify(await target.readAll({ limit: 100 }))).not.toContain(unknownType)
  })
})
