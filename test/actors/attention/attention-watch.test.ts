import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { askedBy } from '../../../src/actors/asked-by.ts'
import { attentionRecordsPerDayMax } from '../../../src/actors/attention/attention-records.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/domain/calendar.ts'
import { attentionRestsStream, attentionStream } from '../../../src/domain/stream-names.ts'
import { DamagedLog, type EventLog } from '../../../src/log/event-log.ts'
import {
  changesIn,
  pass,
  readingsOf,
  recordsIn,
  startWatching,
  type WatchingService,
} from '../../support/attention/watched-racks.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { lateLog } from '../../support/logs/late-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import type { ServiceOptions } from '../../support/test-service.ts'
import { testAsker, testCellar } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const racks = ['rack-1', 'rack-2', 'rack-3']
const open: WatchingService[] = []

afterEach(async () => {
  for (const node of open.splice(0)) await node.stop()
})

const start = async (options: Omit<ServiceOptions, 'schedule'> = {}) => {
  const node = await startWatching({ log: await openFreshLog(), clock: manualClock(), ...options })
  open.push(node)
  return node
}

/** Racks that send every minute, until they are taken out of the list. */
const sending = async (node: WatchingService, all = racks) => {
  const { key, keyId } = await node.createKey()
  const alive = new Set(all)
  let sent = 0
  const each = async (nowMs: number): Promise<void> => {
    if (nowMs % minuteMs !== 0 || alive.size === 0) return
    const { status } = await node.postBatch(readingsOf([...alive], nowMs), key)
    if (status === 200) sent += 2 * alive.size
    await node.untilFolded(keyId, sent)
  }
  return { alive, each }
}

describe('a rack that stops', () => {
  test('is recorded once, ten pauses later, and so is its return', async () => {
    const node = await start()
    const { alive, each } = await sending(node)
    await pass([node], 30 * minuteMs, each)
    expect(await recordsIn(node.log)).toEqual([])
    alive.delete('rack-2')
    const stoppedMs = node.clock.now()
    await pass([node], 20 * minuteMs, each)
    alive.add('rack-2')
    const againMs = node.clock.now()
    await pass([node], 20 * minuteMs, each)
    const [silent, back, ...more] = await recordsIn(node.log)
    expect(await changesIn(node.log)).toEqual([
      { began: ['silent rack-2'], ended: [], now: ['silent rack-2'] },
      { began: [], ended: ['silent rack-2'], now: [] },
    ])
    expect(more).toEqual([])
    expect(silent?.data.now[0]).toMatchObject({ sinceMs: stoppedMs, count: 2 })
    const tookMs = (silent?.recordedAt ?? 0) - stoppedMs
    expect(tookMs).toBeGreaterThan(10 * minuteMs)
    expect(tookMs).toBeLessThanOrEqual(10 * minuteMs + 30_000)
    expect((back?.recordedAt ?? 0) - againMs).toBeLessThanOrEqual(minuteMs + 30_000)
  })

  test('is one line with all others if the whole cellar stops', async () => {
    const node = await start()
    const { alive, each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    alive.clear()
    await pass([node], 30 * minuteMs, each)
    expect(await changesIn(node.log)).toEqual([{ began: ['silent'], ended: [], now: ['silent'] }])
  })

  test('is recorded once by two nodes, of which one starts again', async () => {
    const log = await openFreshLog()
    const clock = manualClock()
    const nodes = [await start({ log, clock }), await start({ log, clock, seed: 2 })]
    const [first, second] = nodes
    if (first === undefined || second === undefined) throw new Error('impossible')
    const { alive, each } = await sending(first)
    await pass(nodes, 15 * minuteMs, each)
    alive.delete('rack-3')
    await pass(nodes, 8 * minuteMs, each)
    await pass([first, await start({ log, clock, seed: 3 })], 10 * minuteMs, each)
    alive.add('rack-3')
    await pass(nodes, 5 * minuteMs, each)
    expect(await changesIn(log)).toEqual([
      { began: ['silent rack-3'], ended: [], now: ['silent rack-3'] },
      { began: [], ended: ['silent rack-3'], now: [] },
    ])
  })

  test('is recorded once, although one node has not heard of the record', async () => {
    const log = await openFreshLog()
    const clock = manualClock()
    const first = await start({ log, clock })
    const late = lateLog(log)
    const second = await start({ log: late, clock, seed: 2 })
    const { alive, each } = await sending(first)
    const eachLate = async (nowMs: number): Promise<void> => {
      await each(nowMs)
      late.deliver()
      // Writes the file of the model, which the follower does every few seconds of real time.
      await second.core.questions.ask('racksByName', { pattern: /^$/, limit: 1 }, { owner: 'test' })
    }
    await pass([first, second], 15 * minuteMs, eachLate)
    alive.delete('rack-2')
    await pass([first, second], 15 * minuteMs, eachLate)
    expect(await changesIn(log)).toEqual([{ began: ['silent rack-2'], ended: [], now: ['silent rack-2'] }])
  })

  test('is recorded by the next process if the first was killed before', async () => {
    const log = await openFreshLog()
    const clock = manualClock()
    const killed = await start({ log, clock })
    const { alive, each } = await sending(killed)
    await pass([killed], 15 * minuteMs, each)
    alive.delete('rack-1')
    await pass([killed], 9 * minuteMs, each)
    const next = await start({ log, clock, seed: 2 })
    await pass([next], 5 * minuteMs, each)
    expect(await changesIn(log)).toEqual([{ began: ['silent rack-1'], ended: [], now: ['silent rack-1'] }])
  })
})

describe('a rack that stops is found', () => {
  test('after devices sent while the clock was ahead, and it was set back', async () => {
    const node = await start()
    const { alive, each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    node.clock.leap(10 * 60 * minuteMs)
    await pass([node], 2 * minuteMs, each)
    node.clock.leap(-10 * 60 * minuteMs)
    await pass([node], 2 * minuteMs, each)
    alive.delete('rack-2')
    await pass([node], 15 * minuteMs, each)
    expect((await changesIn(node.log)).at(-1)?.now).toEqual(['silent rack-2'])
  })

  test.each([attentionStream('a-damaged-one'), attentionRestsStream])('although %p cannot be read', async (other) => {
    const log = await openFreshLog()
    const read: EventLog['read'] = async (stream, options) => {
      if (stream === other) throw new DamagedLog({ stream: other, revision: 0, position: null }, 'a test')
      return log.read(stream, options)
    }
    const node = await start({ log: { ...passingLog(log), read } })
    await node.core.cellars.create({ cellar: 'a-damaged-one', title: '' }, testAsker)
    const { alive, each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    alive.delete('rack-2')
    await pass([node], 15 * minuteMs, each)
    expect((await changesIn(log)).at(-1)?.now).toEqual(['silent rack-2'])
  })
})

const appendPurge = async (log: EventLog, recordedAt: number) => {
  const stream = attentionStream(testCellar)
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
  const purged = {
    id: `01a2264f-0000-7000-8000-${String((last?.revision ?? -1) + 1).padStart(12, '0')}`,
    type: 'RecordsPurged' as const,
    recordedAt,
    data: { firstRevision: 0, lastRevision: 0, recordedBefore: 0 },
    metadata: askedBy(testAsker),
  }
  await log.append(stream, last?.revision ?? 'none', [purged])
}

test('a node waits an hour for a readable record behind one of a newer version', async () => {
  const log = await openFreshLog()
  const clock = manualClock()
  await appendPurge(log, clock.now())
  const read: EventLog['read'] = async (stream, options) =>
    (await log.read(stream, options)).map((event) => {
      const { type: _, ...rest } = event
      const data = { type: 'AttentionChanged', why: 'a test' }
      return event.type === 'RecordsPurged' ? { ...rest, type: 'RecordUnreadable', data } : event
    })
  const node = await start({ log: { ...passingLog(log), read }, clock })
  const { alive, each } = await sending(node)
  await pass([node], 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass([node], 15 * minuteMs, each)
  expect(await recordsIn(log)).toEqual([])
  await node.schedule.advance(hourMs - minuteMs)
  await pass([node], 10_000)
  expect(await recordsIn(log)).toEqual([])
  await node.schedule.advance(minuteMs)
  await pass([node], minuteMs, each)
  expect((await changesIn(log)).slice(0, 1)).toEqual([{ began: ['silent rack-2'], ended: [], now: ['silent rack-2'] }])
})

test('a record is known again behind a month of purges', async () => {
  const log = await openFreshLog()
  const clock = manualClock()
  const { alive, each } = await sending(await start({ log, clock }))
  await pass(open, 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass(open, 15 * minuteMs, each)
  const before = await changesIn(log)
  for (const node of open.splice(0)) await node.stop()
  for (let day = 0; day < 16; day += 1) await appendPurge(log, clock.now())
  await pass([await start({ log, clock, seed: 2 })], 5 * minuteMs)
  expect(before.at(-1)?.now).toEqual(['silent rack-2'])
  expect(await changesIn(log)).toEqual(before)
})

describe('nothing is silent', () => {
  test('because the service was down for an hour', async () => {
    const log = await openFreshLog()
    const clock = manualClock()
    const { each } = await sending(await start({ log, clock }))
    await pass(open, 15 * minuteMs, each)
    for (const node of open.splice(0)) await node.stop()
    clock.advance(60 * minuteMs)
    const node = await start({ log, clock, seed: 2 })
    await pass([node], 9 * minuteMs)
    expect(await recordsIn(log)).toEqual([])
    await pass([node], 5 * minuteMs)
    expect(await changesIn(log)).toEqual([{ began: ['silent'], ended: [], now: ['silent'] }])
  })

  test('because the node refused readings for an hour', async () => {
    let isRefusing = false
    const node = await start({ attention: { isRefusing: () => isRefusing } })
    const { alive, each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    alive.clear()
    isRefusing = true
    await pass([node], 60 * minuteMs, each)
    isRefusing = false
    await pass([node], minuteMs, each)
    for (const rack of racks) alive.add(rack)
    await pass([node], 10 * minuteMs, each)
    expect(await recordsIn(node.log)).toEqual([])
  })

  test('for a node that hears of the readings too late', async () => {
    const log = await openFreshLog()
    const clock = manualClock()
    const first = await start({ log, clock })
    const { each } = await sending(first)
    await pass([first], 15 * minuteMs, each)
    const late = lateLog(log)
    const second = await start({ log: late, clock, seed: 2 })
    await pass([first, second], 20 * minuteMs, each)
    expect(await recordsIn(log)).toEqual([])
    late.deliver()
    await pass([first, second], minuteMs, each)
    expect(await recordsIn(log)).toEqual([])
  })

  test('because the machine slept for an hour', async () => {
    const node = await start()
    const { each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    node.clock.advance(60 * minuteMs)
    await pass([node], 10 * minuteMs, each)
    expect(await recordsIn(node.log)).toEqual([])
  })

  test('that an admin allows to be silent', async () => {
    const node = await start()
    const { alive, each } = await sending(node)
    await pass([node], 15 * minuteMs, each)
    const rule = { rack: 'rack-1', keg: null, after: 'never' } as const
    expect(await node.core.attention.setRule(testCellar, rule, testAsker)).toMatchObject({ ok: true })
    alive.delete('rack-1')
    await pass([node], 20 * minuteMs, each)
    expect(await recordsIn(node.log)).toEqual([])
    await node.core.attention.setRule(testCellar, { ...rule, after: null }, testAsker)
    await pass([node], 2 * minuteMs, each)
    expect(await changesIn(node.log)).toEqual([{ began: ['silent rack-1'], ended: [], now: ['silent rack-1'] }])
  })
})

test('a line is put to rest until a time, and is shown again after it', async () => {
  const node = await start()
  const { alive, each } = await sending(node)
  await pass([node], 15 * minuteMs, each)
  alive.delete('rack-1')
  await pass([node], 15 * minuteMs, each)
  const { attention } = node.core
  const line = { cellar: testCellar, kind: 'silent', rack: 'rack-1' } as const
  const other = await attention.rest({ ...line, rack: 'rack-2' }, node.clock.now() + minuteMs, testAsker)
  expect(other).toEqual({ ok: false, refusal: { kind: 'attention_line_not_found' } })
  const untilMs = node.clock.now() + minuteMs
  expect(await attention.rest(line, untilMs, testAsker)).toEqual({ ok: true, value: null })
  expect(attention.current().map(({ rest }) => rest)).toMatchObject([{ untilMs, by: { kind: 'cli' } }])
  await pass([node], minuteMs, each)
  expect(attention.current().map(({ rest }) => rest)).toEqual([null])
})

test('a line whose number of kegs changes is recorded again after an hour', async () => {
  const node = await start()
  const { alive, each } = await sending(node)
  await pass([node], 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass([node], 15 * minuteMs, each)
  const rule = { rack: 'rack-2', keg: 'pressure', after: 'never' } as const
  await node.core.attention.setRule(testCellar, rule, testAsker)
  const recorded = async () => (await recordsIn(node.log)).map(({ data }) => [data.began.length, data.now[0]?.count])
  await pass([node], 40 * minuteMs, each)
  expect(await recorded()).toEqual([[1, 2]])
  await pass([node], 60 * minuteMs, each)
  expect(await recorded()).toEqual([
    [1, 2],
    [0, 1],
  ])
})

test('a line that stays is recorded again before its record is purged', async () => {
  const node = await start()
  const { alive, each } = await sending(node)
  await pass([node], 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass([node], 15 * minuteMs, each)
  node.clock.advance(15 * dayMs)
  await pass([node], 3 * minuteMs, each)
  expect((await changesIn(node.log)).slice(1)).toEqual([{ began: [], ended: [], now: ['silent rack-2'] }])
})

test('a rack that stops again and again begins five times, and ends after an hour', async () => {
  const node = await start()
  const { alive, each } = await sending(node)
  const rule = { rack: 'rack-2', keg: null, after: 2 * minuteMs } as const
  await node.core.attention.setRule(testCellar, rule, testAsker)
  for (let round = 0; round < 8; round += 1) {
    alive.add('rack-2')
    await pass([node], 3 * minuteMs, each)
    alive.delete('rack-2')
    await pass([node], 4 * minuteMs, each)
  }
  const flapping = await changesIn(node.log)
  expect(flapping.map(({ began, ended }) => began.length - ended.length)).toEqual([1, -1, 1, -1, 1, -1, 1, -1, 1])
  alive.add('rack-2')
  const again = await start({ log: node.log, clock: node.clock, seed: 2 })
  await pass([node, again], 55 * minuteMs, each)
  expect(await changesIn(node.log)).toEqual(flapping)
  alive.delete('rack-1')
  await pass([node, again], 15 * minuteMs, each)
  const after = await changesIn(node.log)
  expect(after.slice(9).map(({ began, ended }) => [began, ended])).toEqual([
    [[], ['silent rack-2']],
    [['silent rack-1'], []],
  ])
})

test('a cellar has a bounded number of records in a day', async () => {
  const node = await start()
  const stopped = Array.from({ length: 30 }, (_, at) => `rack-${at + 2}`)
  const { alive, each } = await sending(node, ['rack-1', ...stopped])
  await pass([node], 3 * minuteMs, each)
  for (const rack of stopped) alive.delete(rack)
  const setRule = (rack: string | null, after: number | 'never' | null) =>
    node.core.attention.setRule(testCellar, { rack, keg: null, after }, testAsker)
  await setRule(null, 'never')
  await setRule('rack-1', 10 * minuteMs)
  const toggle = async (rounds: number) => {
    for (const rack of Array.from({ length: rounds }, (_, round) => stopped[round % stopped.length] ?? '')) {
      for (const after of [minuteMs, null]) {
        await setRule(rack, after)
        await pass([node], minuteMs + 15_000, each)
      }
    }
  }
  await toggle(30)
  const few = (await recordsIn(node.log)).length
  expect(few).toBeGreaterThan(50)
  await toggle(30)
  const records = await recordsIn(node.log)
  const late = records.slice(attentionRecordsPerDayMax)
  expect(late.length).toBeLessThanOrEqual(1)
  expect(records.length).toBeGreaterThanOrEqual(attentionRecordsPerDayMax)
})

test('a node whose clock is behind does not end what another node has recorded', async () => {
  const log = await openFreshLog()
  const first = await start({ log, clock: manualClock() })
  const expiresAt = first.clock.now() + 14 * dayMs + minuteMs
  const { key, keyId } = await first.createKey({ expiresAt })
  expect((await first.postBatch(readingsOf(['rack-1'], first.clock.now()), key)).status).toBe(200)
  await first.untilFolded(keyId, 2)
  await pass([first], 3 * minuteMs)
  const began = { began: [`key_expires ${keyId}`], ended: [], now: [`key_expires ${keyId}`] }
  expect(await changesIn(log)).toEqual([began])
  const second = await start({ log, clock: manualClock(expiresAt - 14 * dayMs - 10_000), seed: 2 })
  await second.sweep()
  expect(await changesIn(log)).toEqual([began])
})
