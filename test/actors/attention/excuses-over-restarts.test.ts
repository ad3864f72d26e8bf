import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { AttentionParts } from '../../../src/actors/attention/attention-watch.ts'
import type { RememberedExcuses } from '../../../src/domain/attention/excused-times.ts'
import { dayMs, minuteMs } from '../../../src/domain/calendar.ts'
import {
  changesIn,
  pass,
  readingsOf,
  recordsIn,
  startWatching,
  type WatchingService,
} from '../../support/attention/watched-racks.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { testAsker, testCellar } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const racks = ['rack-1', 'rack-2']
const open: WatchingService[] = []

afterEach(async () => {
  for (const node of open.splice(0)) await node.stop()
})

/** Nodes that follow each other on one log. Racks send every minute to the node that runs. */
const oneAfterTheOther = async (first: RememberedExcuses | null = null) => {
  const log = await openFreshLog()
  const clock = manualClock()
  let remembered = first
  const excuses = {
    read: async () => remembered,
    write: async (now: RememberedExcuses) => {
      remembered = structuredClone(now)
    },
  }
  const start = async (attention: Partial<AttentionParts> = {}) => {
    const node = await startWatching({ log, clock, seed: open.length + 1, attention: { excuses, ...attention } })
    open.push(node)
    return node
  }
  const node = await start()
  const { key, keyId } = await node.createKey()
  const alive = new Set(racks)
  let sent = 0
  const each = async (nowMs: number): Promise<void> => {
    const running = open.at(-1)
    if (running === undefined || nowMs % minuteMs !== 0 || alive.size === 0) return
    const { status } = await running.postBatch(readingsOf([...alive], nowMs), key)
    if (status === 200) sent += 2 * alive.size
    await running.untilFolded(keyId, sent)
  }
  return { log, clock, start, node, alive, each }
}

describe('after a restart', () => {
  test('a silence that began before is found in time', async () => {
    const { log, start, node, alive, each } = await oneAfterTheOther()
    const rule = { rack: null, keg: null, after: 60 * minuteMs } as const
    await node.core.attention.setRule(testCellar, rule, testAsker)
    await pass([node], 15 * minuteMs, each)
    alive.clear()
    await pass([node], 50 * minuteMs, each)
    await pass([await start()], 15 * minuteMs, each)
    expect(await changesIn(log)).toEqual([{ began: ['silent'], ended: [], now: ['silent'] }])
  })

  test('the hour in which the node refused readings is still excused', async () => {
    let isRefusing = false
    const attention = { isRefusing: () => isRefusing }
    const { log, start, node, alive, each } = await oneAfterTheOther()
    await pass([node], 15 * minuteMs, each)
    alive.clear()
    const refusing = await start(attention)
    isRefusing = true
    await pass([refusing], 60 * minuteMs, each)
    isRefusing = false
    alive.add('rack-1')
    await pass([refusing], 2 * minuteMs, each)
    const next = await start()
    await pass([next], 5 * minuteMs, each)
    alive.add('rack-2')
    await pass([next], 5 * minuteMs, each)
    expect(await recordsIn(log)).toEqual([])
  })

  test('the time that a restored log lacks makes nothing silent', async () => {
    const { log, clock, start, node, each } = await oneAfterTheOther()
    await pass([node], 15 * minuteMs, each)
    await node.stop()
    clock.advance(dayMs)
    const remembered = { ranMs: clock.now() - 5 * minuteMs, heardTo: Number.MAX_SAFE_INTEGER, excused: [] }
    const excuses = { read: async () => remembered, write: async () => {} }
    await pass([await start({ excuses })], 5 * minuteMs, each)
    expect(await recordsIn(log)).toEqual([])
  })

  test('a remembered time in the future excuses nothing', async () => {
    const nowMs = manualClock().now()
    const wrong: RememberedExcuses = { ranMs: nowMs + dayMs, heardTo: -1, excused: [[nowMs - dayMs, nowMs + dayMs]] }
    const { log, node, alive, each } = await oneAfterTheOther(wrong)
    await pass([node], 15 * minuteMs, each)
    alive.delete('rack-2')
    await pass([node], 12 * minuteMs, each)
    expect((await changesIn(log)).at(-1)?.now).toEqual(['silent rack-2'])
  })
})
