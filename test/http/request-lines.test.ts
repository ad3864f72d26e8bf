import { expect, test } from 'bun:test'
import { boundErrorLines, errorLineMs, errorLinesMax } from '../../src/http/request-lines.ts'
import { startService, validReading } from '../support/test-service.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'

test('a bug that many requests meet writes a bounded number of stacks a second', async () => {
  const schedule = drivenSchedule()
  const service = await startService({
    lineSchedule: schedule,
    wrapCore: (core) => ({
      ...core,
      keys: {
        ...core.keys,
        usage: () => {
          throw new Error('a bug')
        },
      },
    }),
  })
  const { key } = await service.createKey()
  const errors = (): readonly object[] =>
    service.lines.filter(({ level }) => level === 'error').map(({ what, facts }) => ({ what, ...facts }))
  const post = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 1) expect((await service.post(validReading, key)).status).toBe(500)
  }
  await post(errorLinesMax)
  expect(errors()).toHaveLength(errorLinesMax)
  await schedule.advance(errorLineMs)
  expect(errors()).toHaveLength(errorLinesMax)

  await post(errorLinesMax + 7)
  expect(errors()).toHaveLength(2 * errorLinesMax)
  await schedule.advance(errorLineMs)
  expect(errors().at(-1)).toEqual({ what: 'more errors were left out', errors: 7 })
  expect(errors()).toHaveLength(2 * errorLinesMax + 1)

  await schedule.advance(10 * errorLineMs)
  await post(1)
  expect(errors()).toHaveLength(2 * errorLinesMax + 2)
  expect(errors().at(-1)).toMatchObject({ what: 'request failed' })
  await service.stop()
})

test('boundErrorLines() does not bound other lines', () => {
  const told: string[] = []
  const tell = (what: string): void => {
    told.push(what)
  }
  const lines = boundErrorLines({ debug: tell, info: tell, warn: tell, error: tell }, drivenSchedule())
  for (let at = 0; at <= errorLinesMax; at += 1) lines.info('info', {})
  lines.debug('debug', {})
  lines.warn('warn', {})
  expect(told).toHaveLength(errorLinesMax + 3)
})
