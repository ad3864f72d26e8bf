/** docs/decisions/030-a-run-is-one-item.md: the service uses the lists of a large batch again. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  ColumnsBuilder,
  columnSlabReadingsMin,
  Name,
  unusedColumnSlabsMax,
} from '../../../../src/domain/reading/columns.ts'
import { batchReadingsMax } from '../../../../src/limits.ts'
import { answerOf, expectBatch } from '../../../support/answers.ts'
import { type Service, startService, testAsker, validReading } from '../../../support/test-service.ts'

let service: Service
let key: string
beforeEach(async () => {
  service = await startService()
  key = (await service.createKey()).key
  const policy = { limit: null, readingAgeMsMax: 3_600_000, retentionMs: null, readingAheadMsMax: 60_000 }
  await service.core.cellars.changePolicy(validReading.cellar, policy, testAsker)
  service.clock.set(Date.UTC(2026, 2, 1, 12))
  useLists(unusedColumnSlabsMax)
})
afterEach(() => service.stop())

/** Takes the lists of earlier batches, those that were given back last first. Returns the last value in each. */
const useLists = (many: number): readonly (number | undefined)[] =>
  Array.from({ length: many }, () => {
    const builder = new ColumnsBuilder()
    const name = new Name('name')
    builder.begin(name)
    for (let index = 0; index < columnSlabReadingsMin; index += 1) {
      builder.push({ rack: name, keg: name, value: 0, timeMs: 0, text: null })
    }
    return builder.finish().values.at(-1)
  })

const lastValue = 12_345
const reading = { ...validReading, timestamp: '2026-03-01T12:00:00Z' }
const tooOld = { ...reading, timestamp: '2026-03-01T10:00:00Z', value: lastValue }
const readings = Array.from({ length: batchReadingsMax - 1 }, (_, value) => ({
  ...reading,
  rack: `rack-${value % 50}`,
  value,
}))

test('a batch with a refused timestamp gives the lists of all its readings back', async () => {
  expectBatch(await answerOf(await service.postBatch([...readings, tooOld], key)), 207)
  expect(useLists(2)).toContain(lastValue)
})

test('a batch with refused timestamps is stored and repeated as it was sent', async () => {
  const batches = [1, 2].map((batch) => readings.map((one) => ({ ...one, keg: `keg-${batch}` })))
  for (const [number, batch] of batches.entries()) {
    const send = async () =>
      expectBatch(
        await answerOf(await service.postBatch([tooOld, ...batch], key, { 'Idempotency-Key': `batch-${number}` })),
        207,
      )
    const answer = await send()
    const stored = await service.log.readAll({ limit: batch.length, direction: 'backwards' })
    expect(stored.map(({ data }) => data).toReversed()).toEqual(batch)
    expect(await send()).toEqual(answer)
  }
})

test('a checked batch gives its lists back', async () => {
  const body = JSON.stringify({ readings: [...readings, { ...reading, value: lastValue }] })
  const answer = await answerOf(await service.postTo('/batch/check', body, key))
  expect([answer.status, JSON.parse(answer.body).accepted]).toEqual([200, batchReadingsMax])
  expect(useLists(1)).toEqual([lastValue])
})
