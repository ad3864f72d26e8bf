import { describe, expect, test } from 'bun:test'
import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import type { NodeLines } from '../../../src/domain/attention/lines-of-nodes.ts'
import { dayMs } from '../../../src/domain/calendar.ts'
import { nodesAttentionStream } from '../../../src/domain/stream-names.ts'
import { changesIn, recordsIn } from '../../support/attention/watched-racks.ts'
import { Cluster } from '../../support/two-nodes.ts'

type State = { found: NodeLines | null }

const certificate: AttentionLine = { kind: 'certificate_ends', sinceMs: 1, dueMs: 2 }
const failed: AttentionLine = { kind: 'check_failed', sinceMs: 1 }
const decided = (...lines: readonly AttentionLine[]): NodeLines => ({ lines, undecided: [] })

const cluster = () => {
  const made = new Cluster()
  const open = async (node: string, state: State) => {
    const attention = { node, isRefusing: () => false, nodeLines: () => state.found }
    return { ...(await made.open({ attention })), state }
  }
  type Node = Awaited<ReturnType<typeof open>>
  /** Each node looks once in each round. */
  const look = async (nodes: readonly Node[], rounds = 1): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      made.clock.advance(10_000)
      for (const { core, schedule } of nodes) {
        await schedule.until(core.sweep())
        for (const { late } of nodes) late.deliver()
      }
    }
  }
  return { log: made.log, clock: made.clock, open, look }
}

const recordsOf = (log: Cluster['log']) => recordsIn(log, nodesAttentionStream)

describe('a line of a node', () => {
  test('stays while the node does not know yet after a restart', async () => {
    const { log, open, look } = cluster()
    const first = await open('node-1', { found: decided(failed) })
    await look([first], 2)
    await first.core.drain()
    const state: State = { found: null }
    const again = await open('node-1', state)
    await look([again])
    state.found = { lines: [], undecided: ['check_failed'] }
    await look([again])
    expect(await recordsOf(log)).toHaveLength(1)
    state.found = decided()
    await look([again])
    expect((await changesIn(log, nodesAttentionStream)).at(-1)).toEqual({
      began: [],
      ended: ['check_failed node-1'],
      now: [],
    })
  })

  test('stands after it has begun five times in a day', async () => {
    const { log, open, look } = cluster()
    const state: State = { found: decided() }
    const node = await open('node-1', state)
    for (let round = 0; round < 20; round += 1) {
      state.found = round % 2 === 0 ? decided(failed) : decided()
      await look([node])
    }
    expect(await recordsOf(log)).toHaveLength(9)
    for (let round = 0; round < 360; round += 1) await look([node])
    expect((await recordsOf(log)).at(-1)?.data).toMatchObject({ ended: [{ kind: 'check_failed' }], now: [] })
  })

  test('does not begin while the node does not know', async () => {
    const { log, open, look } = cluster()
    await look([await open('node-1', { found: { lines: [], undecided: ['disk_fills'] } })])
    expect(await recordsOf(log)).toEqual([])
  })
})

describe('sixty nodes with lines, of which the list has room for some,', () => {
  const sixty = async () => {
    const made = cluster()
    const names = Array.from({ length: 60 }, (_, index) => `cellarbook-node-${index}.cellars.example`)
    const nodes = await Promise.all(names.map((name) => made.open(name, { found: decided(certificate) })))
    await made.look(nodes, 3)
    return { ...made, nodes }
  }

  test('write about one record each, and are quiet then', async () => {
    const { log, look, nodes } = await sixty()
    const written = await recordsOf(log)
    expect(written.length).toBeLessThanOrEqual(61)
    expect(written.at(-1)?.data.more).toBeGreaterThan(0)
    await look(nodes, 10)
    expect(await recordsOf(log)).toHaveLength(written.length)
  })

  test('count again what has no room, when lines end', async () => {
    const { log, clock, look, nodes } = await sixty()
    const before = (await recordsOf(log)).length
    for (const { state } of nodes.slice(5)) state.found = decided()
    await look(nodes, 5)
    const after = await recordsOf(log)
    expect(after.length - before).toBeLessThanOrEqual(61)
    expect(after.at(-1)?.data.now).toHaveLength(5)
    clock.advance(dayMs)
    await look(nodes, 2)
    expect((await recordsOf(log)).at(-1)?.data).toMatchObject({ more: 0 })
  })
})
