import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { NewEvent, RecordedEvent } from '../../src/domain/events.ts'
import { eventsOfItems, type ReadingRun } from '../../src/domain/reading/recorded-run.ts'
import { keyStream, readingsStream, signInsStream } from '../../src/domain/stream-names.ts'
import type { EventLog, ToAppend } from '../../src/log/event-log.ts'
import { openSource } from '../../src/log/open-source.ts'
import type { Source } from '../../src/log/source.ts'
import { openLogOf, sourceConfigOf } from '../support/logs/engine.ts'
import { everyEvent } from '../support/logs/every-event.ts'
import { itemsAfter } from '../support/logs/pages-of-source.ts'
import { keySuspensions, reading } from '../support/logs/sample-events.ts'
import { anyRun, runKeyId } from '../support/random-runs.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
let log: EventLog
let source: Source

beforeAll(async () => {
  folder = temporaryFolder()
  log = await openLogOf(folder.path)
  source = await openSource(sourceConfigOf(folder.path))
})
afterAll(async () => {
  await source.close()
  await log.close()
  folder.remove()
})

const all = async (): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const from = events.at(-1)?.position
    const page = await log.readAll({ ...(from === undefined ? {} : { from }), limit: 1_000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}

const ends = new Map<string, number>()
const append = async (stream: string, toAppend: ToAppend, count: number): Promise<void> => {
  const end = ends.get(stream) ?? 0
  await log.append(stream, end === 0 ? 'none' : end - 1, toAppend)
  ends.set(stream, end + count)
}

const readings = readingsStream(runKeyId)
const barriers: readonly NewEvent[] = everyEvent()
  .filter(({ type }) => type === 'ReadingsSealed' || type === 'ReadingsFenced')
  .map(({ id, type, data, recordedAt, metadata }) => ({ id, type, data, recordedAt, metadata }) as NewEvent)

type Step =
  | { readonly kind: 'run'; readonly run: ReadingRun }
  | { readonly kind: 'events'; readonly which: number }
  | { readonly kind: 'truncate'; readonly percent: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const), run: anyRun }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('events' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('truncate' as const), percent: fc.nat(100) }),
  },
)

const take = async (one: Step): Promise<void> => {
  if (one.kind === 'run') return append(readings, one.run, one.run.count)
  if (one.kind === 'truncate')
    return log.truncate(readings, Math.floor((((ends.get(readings) ?? 1) - 1) * one.percent) / 100))
  if (one.which < 5) return append(keyStream('k1'), keySuspensions(one.which + 1), one.which + 1)
  const barrier = barriers[one.which % barriers.length]
  if (one.which < 10 && barrier !== undefined) return append(readings, [{ ...barrier, id: crypto.randomUUID() }], 1)
  const other = readingsStream(`other${one.which % 3}`)
  await append(other, [reading(other), reading(other, {}, 1_900_000_000_000)], 2)
}

test('a source gives what a read of the whole log gives, after each purge', async () => {
  await append(signInsStream, everyEvent().map(fresh).filter(isStorable), everyEvent().filter(isStorable).length)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      await append(readings, [reading(readings)], 1)
      for (const one of steps) await take(one)
      const events = await all()
      const end = events.at(-1)?.position
      expect(eventsOfItems(await itemsAfter(source, null, end))).toEqual([...events])
      const middle = events[Math.floor(events.length / 2)]?.position ?? 0
      const later = events.filter(({ position }) => position > middle)
      expect(eventsOfItems(await itemsAfter(source, middle, end))).toEqual(later)
    }),
    { seed: 20_260_301, numRuns: 10 },
  )
})

const isStorable = ({ type }: Pick<NewEvent, 'type'>): boolean => type !== 'RecordUnreadable'
const fresh = ({ type, data, recordedAt, metadata }: RecordedEvent): NewEvent =>
  ({ id: crypto.randomUUID(), type, data, recordedAt, metadata }) as NewEvent

test('at the end, a source gives an empty page, and later what was appended', async () => {
  const events = await all()
  const end = events.at(-1)?.position ?? null
  expect(await source.after(end)).toEqual({ items: [], scannedTo: end, atEnd: true })
  await append(keyStream('k1'), keySuspensions(1), 1)
  const later = (await all()).slice(events.length)
  expect(eventsOfItems(await itemsAfter(source, end, later[0]?.position))).toEqual(later)
})

test('a source that knows a stream hides what was truncated since', async () => {
  await append(readings, [reading(readings), reading(readings), reading(readings)], 3)
  const events = await all()
  const behind = events.at(-4)?.position ?? null
  expect(eventsOfItems(await itemsAfter(source, behind, events.at(-1)?.position))).toEqual(events.slice(-3))
  await log.truncate(readings, (ends.get(readings) ?? 0) - 1)
  expect(eventsOfItems(await itemsAfter(source, behind))).toEqual((await all()).slice(-1))
})

test('an empty log has an empty page without a position', async () => {
  const empty = temporaryFolder()
  const emptyLog = await openLogOf(empty.path)
  const emptySource = await openSource(sourceConfigOf(empty.path))
  expect(await emptySource.after(null)).toEqual({ items: [], scannedTo: null, atEnd: true })
  await emptySource.close()
  await emptyLog.close()
  empty.remove()
})
