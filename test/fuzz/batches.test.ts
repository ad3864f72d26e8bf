import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { EventLog } from '../../src/log/event-log.ts'
import { type Answer, answerOf, asIfStored, expectBatch, expectRefusal } from '../support/answers.ts'
import { startService } from '../support/test-service.ts'
import { anyBatch } from './bodies.ts'
import { judgeBatchNaively, type Sent } from './naive-judge.ts'

const batchCount = 3_000
const atOnce = 50

test(`of ${batchCount} batches the valid readings are stored as sent and no others, and every answer is documented and equal to that of a check`, async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(performance.timeOrigin) % 2 ** 31)
  console.log(`FUZZ_SEED=${seed} repeats these batches`)
  const service = await startService({ seed })
  const { key } = await service.createKey({ limit: { readings: 1_000_000, windowMs: 60_000 } })
  const kept = new Map<string, readonly Sent[]>()
  const met = new Set<string>()

  const postOne = async ({ body, sent, cutBytes }: (typeof sampled)[number]): Promise<void> => {
    const packed = new Uint8Array(gzipSync(body))
    const bytes = sent === 'plain' ? new Uint8Array(body) : packed.slice(0, sent === 'cut' ? -cutBytes : undefined)
    const headers = sent === 'plain' ? {} : { 'Content-Encoding': 'gzip' }
    const checked = await answerOf(await service.postTo('/batch/check', bytes, key, headers))
    const answer = await answerOf(await service.postBatch(bytes, key, headers))
    const items = sent === 'cut' ? null : judgeBatchNaively(body)
    const readings = (items ?? []).filter((reading) => reading !== null)
    const context = `${JSON.stringify(Buffer.from(body).toString('latin1'))}, ${sent}, was answered with ${answer.body}`
    expect(answer.status, context).toBe(readings.length === 0 ? 400 : readings.length === items?.length ? 200 : 207)
    expect([checked.status, asIfStored(checked)], context).toEqual([answer.status, answer.body])
    for (const code of documentedCodes(answer, items)) met.add(code)
    if (readings.length > 0) kept.set(String(answer.header('X-Request-Id')), readings)
  }

  const sampled = fc.sample(anyBatch, { numRuns: batchCount, seed })
  for (let from = 0; from < batchCount; from += atOnce) {
    await Promise.all(sampled.slice(from, from + atOnce).map(postOne))
    // Refills the key's cost budget, so that no batch is refused for its cost.
    service.clock.advance(60_000)
  }
  // Every answer must occur. Otherwise the batches no longer test all rules.
  expect([...met].toSorted()).toEqual(
    [
      ...['200', '207', 'MALFORMED_JSON', 'INVALID_BODY', 'BATCH_EMPTY', 'BATCH_TOO_LARGE', 'BATCH_REJECTED'],
      ...['item INVALID_BODY', 'item MISSING_FIELD', 'item INVALID_TYPE', 'item INVALID_NAME'],
      ...['item INVALID_VALUE', 'item INVALID_TIMESTAMP', 'item CELLAR_MISMATCH'],
    ].toSorted(),
  )
  expect(await storedBatches(service.log)).toEqual(kept)
  expect(service.lines.filter(({ level }) => level === 'error')).toEqual([])
  await service.stop()
}, 600_000)

/** Returns the codes of the answer and of its items. The answer must name all invalid items, and no others. */
const documentedCodes = (answer: Answer, items: readonly (Sent | null)[] | null): readonly string[] => {
  const code = answer.status === 400 ? String(Reflect.get(Object(JSON.parse(answer.body)), 'code')) : null
  if (code !== null && code !== 'BATCH_REJECTED') {
    expectRefusal(answer, 400, code)
    return [code]
  }
  const { errors } = expectBatch(answer, answer.status === 200 ? 200 : answer.status === 207 ? 207 : 400)
  expect(errors.map(({ index }) => index)).toEqual(
    [...(items ?? []).entries()].filter(([, reading]) => reading === null).map(([index]) => index),
  )
  return [code ?? String(answer.status), ...errors.map((error) => `item ${error.code}`)]
}

const storedBatches = async (log: EventLog): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const stored = new Map<string, unknown[]>()
  for (let page = await log.readAll({ limit: 1_000 }); page.length > 0; ) {
    for (const event of page) {
      if (event.type !== 'ReadingAccepted') continue
      const { requestId } = event.metadata
      stored.set(requestId, [...(stored.get(requestId) ?? []), event.data])
    }
    const last = page.at(-1)
    page = last === undefined ? [] : await log.readAll({ limit: 1_000, from: last.position })
  }
  return stored
}
