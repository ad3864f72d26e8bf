import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Core } from '../../../src/actors/core-interface.ts'
import type { Ask } from '../../../src/actors/search/ask-db.ts'
import type { MinutePage } from '../../../src/actors/search/count-minutes.ts'
import { questionsOfLog } from '../../../src/asked/questions-of-log.ts'
import { minuteRowsPerPageMax } from '../../../src/http/dashboard/ask/log-list.ts'
import { minuteRows } from '../../../src/http/dashboard/ask/minute-rows.ts'
import { minuteRowsMs } from '../../../src/limits.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'
import { type Service, startService, testAsker, testCellar } from '../../support/test-service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.createKey()
})
afterAll(() => service.stop())

const minutesOfLog = minuteRowsPerPageMax + 1
const filter = { stream: null, kind: null, type: null, actor: null, key: null, since: null, until: null }

const asking = (ask: Ask): Core => ({ ...service.core, questions: questionsOfLog(service.log, { ask }) })

const answered = async (rows: ReturnType<typeof minuteRows>) => (await rows) ?? expect.unreachable()

/** Asks a log whose minutes each have one reading, at the position that is the number of the minute. */
const counted = (page: Omit<MinutePage, 'direction' | 'limit'>, nowMs = service.core.clock.now()) => {
  const { core } = service
  const last = Math.floor(core.clock.now() / 60_000)
  const first = last - minutesOfLog + 1
  const ask = {
    ...naiveAsk(core.log),
    minuteCounts: async (_: string | null, from: number, to: number) =>
      Array.from({ length: to - from }, (__, at) => from + at)
        .filter((minute) => minute >= first)
        .map((minute) => ({ cellar: testCellar, minute, code: 'accepted', count: 1 })),
    positionOfMinute: async (minute: number) => ({
      minute: Math.min(minute, last),
      position: Math.min(minute, last) - first,
    }),
  }
  const parts = { core: asking(ask), nowMs, owner: '' }
  const whole = { ...page, direction: 'backwards', limit: minuteRowsPerPageMax } as const
  return answered(minuteRows(parts, { ...filter, cellar: testCellar }, whole))
}

test('minuteRows() counts the most minutes of a page, and says that more follow', async () => {
  const { rows, isFull } = await counted({ from: null, to: null })
  expect([rows.length, rows.at(-1)?.position, isFull]).toEqual([minuteRowsPerPageMax, 1, true])
})

test('minuteRows() counts no minute beyond the events of the page', async () => {
  const { rows, isFull } = await counted({ from: null, to: 1 })
  expect([rows.length, rows.at(-1)?.position, isFull]).toEqual([minuteRowsPerPageMax, 1, false])
})

test('minuteRows() asks once for the position of a minute that several cellars have', async () => {
  const { core } = service
  const [cellars, minutes] = [4, 40]
  for (let cellar = 1; cellar < cellars; cellar += 1) {
    await core.cellars.create({ cellar: `beer-${cellar}`, title: '' }, testAsker)
  }
  const last = Math.floor(core.clock.now() / 60_000)
  let asked = 0
  const ask = {
    ...naiveAsk(core.log),
    minuteCounts: async (cellar: string | null, from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({ cellar, minute: from + at, code: 'accepted', count: 1 })),
    positionOfMinute: async (minute: number) => {
      asked += 1
      return { minute: Math.min(minute, last), position: Math.min(minute, last) }
    },
  }
  const parts = { core: asking(ask), nowMs: core.clock.now(), owner: '' }
  const page = { direction: 'backwards', from: null, to: null, limit: cellars * minutes } as const
  const wanted = { ...filter, cellar: null, since: (last - minutes + 1) * 60_000 }
  const { rows } = await answered(minuteRows(parts, wanted, page))
  // The first question is for the last minute of all.
  expect([rows.length, asked]).toEqual([cellars * minutes, minutes + 1])
})

test('minuteRows() continues where the page before ended', async () => {
  const { rows } = await counted({ from: 1, to: null })
  expect(rows.map(({ position }) => position)).toEqual([0])
})

test('minuteRows() counts minutes after now, because a clock can have been set back', async () => {
  const nowMs = service.core.clock.now()
  const { rows } = await counted({ from: null, to: null }, nowMs - 3_600_000)
  expect(rows[0]?.at).toBe(nowMs - (nowMs % 60_000))
  const before = await counted({ from: null, to: null }, nowMs - 2 * minuteRowsMs)
  expect(before.rows).toEqual([])
})
