import { afterAll, expect, test } from 'bun:test'
import { eachLoad } from '../../src/actors/search/find-keys.ts'
import { startService, testCellar, validReading } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

const [minuteMs, hourMs] = [60_000, 3_600_000]
const clock = manualClock()
clock.advance(hourMs - (clock.now() % hourMs))
const service = await startService({ clock, isDerived: true })
afterAll(() => service.stop())

const ask = async <Answer>(question: Promise<{ readonly kind: string; readonly answer?: Answer }>): Promise<Answer> => {
  const { answer } = await question
  return answer ?? expect.unreachable()
}

test('the running service tells the busiest minute of its keys, their hours and their racks', async () => {
  const hour = clock.now() / hourMs
  const [press, still] = [await service.createKey(), await service.createKey()]
  const send = async (count: number, rack: string): Promise<void> => {
    const timestamp = new Date(clock.now()).toISOString()
    for (let number = 0; number < count; number += 1)
      expect((await service.post({ ...validReading, rack, timestamp }, press.key)).status).toBe(200)
  }
  const { questions } = service.core
  const owner = 'ada@example.org'
  const wanted = { fromHour: hour, todayHour: hour, cellar: testCellar }
  await send(2, 'rack-1')
  await ask(questions.ask('keyLoads', wanted, { owner }))
  // The flush for the first question came in the middle of this minute.
  await send(3, 'rack-2')
  clock.advance(minuteMs)
  await send(4, 'rack-3')
  clock.advance(hourMs)
  await send(1, 'rack-4')
  const loads = await ask(questions.ask('keyLoads', wanted, { owner }))
  expect([...eachLoad(loads)]).toEqual([{ keyId: press.keyId, busiest: 5, refusedToday: 0 }])
  const later = await ask(questions.ask('keyLoads', { ...wanted, fromHour: hour + 1 }, { owner }))
  expect([...eachLoad(later)]).toEqual([{ keyId: press.keyId, busiest: 1, refusedToday: 0 }])

  const keyIds = [still.keyId, press.keyId]
  const days = await ask(questions.ask('keyDays', { keyIds, fromHour: hour - 1, toHour: hour + 2 }, { owner }))
  const none = [0, 0, 0]
  const minute = 60 * hour
  const racks = [minute, minute, minute + 1, minute + 61].map((at, number) => ({
    key: press.keyId,
    rack: `rack-${number + 1}`,
    minute: at,
  }))
  expect(days).toEqual([
    { keyId: still.keyId, accepted: none, refused: none, busiest: 0, racks: [], racksTotal: 0 },
    {
      keyId: press.keyId,
      accepted: [0, 9, 1],
      refused: none,
      busiest: 5,
      racks: [racks[3], racks[2], racks[0]].flatMap((rack) => rack ?? []),
      racksTotal: 4,
    },
  ])
  const seen = await ask(questions.ask('racksOfKeys', { keyIds }, { owner }))
  expect(seen).toEqual({ racks, isCut: false, seenFromMinute: null })
})
