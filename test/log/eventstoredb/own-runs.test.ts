import { describe, expect, test } from 'bun:test'
import { ReadingRun } from '../../../src/domain/reading/recorded-run.ts'
import { batchReadingsMax, eventStoreOwnReadingsMax } from '../../../src/limits.ts'
import { OwnRuns } from '../../../src/log/eventstoredb/own-runs.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { startMs } from '../../support/logs/sample-events.ts'

const place = { stream: 'readings-k1', streamName: 'p-readings-k1', revision: 7 }
const timestamp = '2026-03-01T12:00:00Z'
const readings = columnsOf(
  Array.from({ length: batchReadingsMax }, (_, value) => ({ cellar: 'c', rack: 'r', keg: 'k', value, timestamp })),
)
const runOf = (requestId: string): ReadingRun =>
  new ReadingRun('k1', startMs, [{ requestId, readings, idempotency: null }])

const firstOf = (requestId: string, at: Partial<typeof place> = {}) => {
  return { ...place, ...at, id: requestId, type: 'ReadingAccepted', position: 99, metadata: '{}', data: '{}' }
}

describe('a run that a node remembers', () => {
  test('begins with its first event at its place', () => {
    const [own, id] = [new OwnRuns(), crypto.randomUUID()]
    own.add({ ...place, run: runOf(id) })
    expect(own.beginningWith(firstOf(id, { revision: 8 }))).toBeNull()
    expect(own.beginningWith(firstOf(id, { streamName: 'p-readings-k2' }))).toBeNull()
    expect(own.beginningWith(firstOf(crypto.randomUUID()))).toBeNull()
    expect(own.beginningWith(firstOf(id))?.firstId).toBe(id)
    own.forget(id)
    expect(own.beginningWith(firstOf(id))).toBeNull()
  })

  test('is not remembered a second time', () => {
    const [own, id] = [new OwnRuns(), crypto.randomUUID()]
    const run = runOf(id)
    own.add({ ...place, run })
    own.forget(id)
    own.add({ ...place, run })
    expect(own.beginningWith(firstOf(id))).toBeNull()
  })

  test('is not remembered beyond the bound, until others are forgotten', () => {
    const own = new OwnRuns()
    const ids = Array.from({ length: 2 + eventStoreOwnReadingsMax / batchReadingsMax }, () => crypto.randomUUID())
    for (const id of ids) own.add({ ...place, run: runOf(id) })
    for (const id of ids) own.add({ ...place, run: runOf(id) })
    const remembered = (): readonly string[] => ids.filter((id) => own.beginningWith(firstOf(id)) !== null)
    expect(remembered()).toEqual(ids.slice(0, -2))
    own.forget(ids[0] ?? '')
    own.forget(ids[0] ?? '')
    own.add({ ...place, run: runOf(ids.at(-1) ?? '') })
    own.add({ ...place, run: runOf(ids.at(-2) ?? '') })
    expect(remembered()).toEqual([...ids.slice(1, -2), ...ids.slice(-1)])
  })

  test('has ids that the store keeps', () => {
    const own = new OwnRuns()
    own.add({ ...place, run: runOf('request-000') })
    expect(own.beginningWith(firstOf('request-000'))).toBeNull()
  })
})
