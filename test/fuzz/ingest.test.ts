import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { EventLog } from '../../src/log/event-log.ts'
import { type Answer, answerOf, asIfStored, expectAccepted, expectRefusal } from '../support/answers.ts'
import { startService } from '../support/test-service.ts'
import { anyBody } from './bodies.ts'
import { judgeNaively } from './naive-judge.ts'

const statuses = new Map([
  ['MALFORMED_JSON', 400],
  ['INVALID_BODY', 400],
  ['MISSING_FIELD', 400],
  ['INVALID_TYPE', 400],
  ['INVALID_NAME', 400],
  ['INVALID_VALUE', 400],
  ['INVALID_TIMESTAMP', 400],
  ['CELLAR_MISMATCH', 403],
  ['PAYLOAD_TOO_LARGE', 413],
])

const bodyCount = 5_000
const atOnce = 50

test(`of ${bodyCount} bodies each valid one is stored as sent and no other, and every answer is documented and equal to that of a check`, async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(performance.timeOrigin) % 2 ** 31)
  console.log(`FUZZ_SEED=${seed} repeats these bodies`)
  const service = await startService({ seed })
  const { key } = await service.createKey({ limit: { readings: 1_000_000, windowMs: 60_000 } })
  const sent = new Map<string, unknown>()
  const met = new Set<string>()

  const postOne = async (body: Uint8Array): Promise<void> => {
    const checked = await answerOf(await service.postTo('/check', new Uint8Array(body), key))
    const answer = await answerOf(await service.post(body, key))
    const reading = judgeNaively(body)
    const context = `${JSON.stringify(Buffer.from(body).toString('latin1'))} was answered with ${answer.body}`
    expect(answer.status === 200, context).toBe(reading !== null)
    expect([checked.status, asIfStored(checked)], context).toEqual([answer.status, answer.body])
    met.add(documentedCode(answer))
    if (reading !== null) sent.set(String(answer.header('X-Request-Id')), reading)
  }

  const sampled = fc.sample(anyBody, { numRuns: bodyCount, seed })
  for (let from = 0; from < bodyCount; from += atOnce) {
    await Promise.all(sampled.slice(from, from + atOnce).map(postOne))
    // Refills the key's cost budget, so that no reading is refused for its cost.
    service.clock.advance(60_000)
  }
  // Every answer must occur. Otherwise the bodies no longer test all rules.
  expect([...met].toSorted()).toEqual(['200', ...statuses.keys()].toSorted())
  expect(await storedReadings(service.log)).toEqual(sent)
  expect(service.lines.filter(({ level }) => level === 'error')).toEqual([])
  await service.stop()
}, 600_000)

const documentedCode = (answer: Answer): string => {
  if (answer.status === 200) {
    expectAccepted(answer)
    return '200'
  }
  const code = String(Reflect.get(Object(JSON.parse(answer.body)), 'code'))
  expectRefusal(answer, statuses.get(code) ?? 0, code)
  return code
}

const storedReadings = async (log: EventLog): Promise<ReadonlyMap<string, unknown>> => {
  const stored = new Map<string, unknown>()
  for (let page = await log.readAll({ limit: 1_000 }); page.length > 0; ) {
    for (const event of page) if (event.type === 'ReadingAccepted') stored.set(event.id, event.data)
    const last = page.at(-1)
    page = last === undefined ? [] : await log.readAll({ limit: 1_000, from: last.position })
  }
  return stored
}
