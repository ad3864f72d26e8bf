import { afterEach, describe, expect, test } from 'bun:test'
import type { Ask } from '../../src/actors/search/ask-db.ts'
import { requestSearchMs } from '../../src/actors/search/find-events.ts'
import { type LogSearch, searchLog } from '../../src/actors/search/search-log.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { findInLog } from '../../src/cli/control/find-in-log.ts'
import type { NewEvent, RecordedEvent } from '../../src/domain/events.ts'
import { type LogPart, wholeLog } from '../../src/domain/search/event-filter.ts'
import { refusalsStream } from '../../src/domain/stream-names.ts'
import { logReadPageEvents, readPageEventsMax, refusalSummaryMsMax, summariesSearchedMax } from '../../src/limits.ts'
import { AskBusy, AskUnusable } from '../../src/log/ask-index.ts'
import { Outage, StillSearching } from '../../src/log/event-log.ts'
import { readsOf } from '../support/ask/reads-of.ts'
import { type DerivedHere, derivedHere } from '../support/derived/derived-here.ts'
import { slowLog } from '../support/logs/passing-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { asker, Cluster, makeTestKey, type TestNode } from '../support/two-nodes.ts'

const entropy = seededEntropy(20)

let derived: DerivedHere
afterEach(async () => {
  await derived.store.stop()
  derived.remove()
})

const settle = async (node: TestNode): Promise<void> => {
  node.late.deliver()
  await node.schedule.quiet()
  await derived.whole()
}

const refusedAt = (atMs: number, requestId: string): NewEvent<'ReadingsRefused'> => ({
  id: entropy.uuid(),
  type: 'ReadingsRefused',
  recordedAt: atMs + 10_000,
  data: {
    from: atMs,
    to: atMs + 9_000,
    counts: [{ code: 'key_is_suspended', count: 3 }],
    samples: [{ requestId, atMs, code: 'key_is_suspended', field: null, rule: null, rack: null, keg: null }],
  },
  metadata: { by: { kind: 'system' }, requestId: entropy.uuid(), correlationId: 'c', causationId: 'c' },
})

/** A node with `ask.db`, a key that is suspended by request `old`, and readings. */
const opened = async () => {
  const cluster = new Cluster()
  derived = derivedHere(slowLog(cluster.log), { clock: cluster.clock })
  const node = await cluster.open({ derived })
  const keyId = await makeTestKey(node)
  await node.post(keyId, 5)
  const old = '5f4a0d0e-0000-4000-8000-000000000001'
  await node.schedule.until(node.core.keys.suspend(keyId, 'a test', { ...asker, requestId: old }))
  await settle(node)
  const find = async (
    what: string,
    { questions = node.core.questions, signal = new AbortController().signal } = {},
  ) => {
    const parts = { questions, signal, keyLine: () => Promise.resolve(null) }
    const answer = findInLog(what, parts)
    const types: string[] = []
    while (true) {
      const step = await node.schedule.until(answer.next())
      if (step.done === true) return { types, message: step.value.message }
      if (step.value.kind === 'event') types.push(step.value.value.type)
    }
  }
  return { cluster, node, keyId, old, find }
}

describe('`log find` with ask.db', () => {
  test('finds the events of an old request, and of one of its events', async () => {
    const { cluster, find, old } = await opened()
    expect(await find(old)).toEqual({ types: expect.arrayContaining(['KeySuspended']), message: null })
    const all = await cluster.log.readAll({ limit: 1_000 })
    const suspended = all.find(({ type }) => type === 'KeySuspended')
    expect(await find(suspended?.id.toUpperCase() ?? '')).toEqual({ types: ['KeySuspended'], message: null })
    expect((await find('5f4a0d0e-0000-4000-8000-000000000002')).message).toContain('no event has this id, except')
  })

  test('leads from a refused request to its sample, else to the summaries of its time', async () => {
    const { cluster, node, keyId, find } = await opened()
    const atMs = cluster.clock.now() - refusalSummaryMsMax
    const [sampled, counted] = [entropy.requestId(atMs), entropy.requestId(atMs + 5_000)]
    const others = Array.from({ length: summariesSearchedMax }, () => refusedAt(atMs, entropy.uuid()))
    await cluster.log.append(refusalsStream(keyId), 'none', [...others, refusedAt(atMs, sampled)])
    await settle(node)
    const found = await find(sampled)
    expect(found).toEqual({ types: ['ReadingsRefused'], message: expect.stringContaining('it is a sample') })
    expect(await find(counted)).toEqual({
      types: Array.from({ length: 20 }, () => 'ReadingsRefused'),
      message: expect.stringContaining(`one of these events counts it (${summariesSearchedMax - 19} more`),
    })
    const before = await find(entropy.requestId(atMs - 60_000))
    expect(before).toEqual({ types: [], message: expect.stringContaining('has this id') })
  })

  test('waits for a store that passes many events of other programs', async () => {
    const { cluster, node, find } = await opened()
    const [first] = await cluster.log.readAll({ limit: 1 })
    expect((await find(`${first?.position}`)).types).toEqual([first?.type ?? ''])
    expect((await find('2026-01-01T00:00:00Z')).types).toEqual([first?.type ?? ''])
    const ofPage = node.core.questions.ask('firstSince', 0, { owner: 'ada@example.org' })
    await expect(node.schedule.until(ofPage)).rejects.toThrow(StillSearching)
  })

  test('ends when nobody reads its answer any more', async () => {
    const { find, old } = await opened()
    await expect(find(old, { signal: AbortSignal.abort() })).rejects.toThrow(Outage)
  })

  test('compares an unknown id with a thousand later events, however slow the reads are', async () => {
    const { cluster, keyId, find } = await opened()
    const atMs = cluster.clock.now()
    const later = () =>
      Array.from({ length: readPageEventsMax }, () => refusedAt(atMs + 2 * requestSearchMs, 'another'))
    await cluster.log.append(refusalsStream(keyId), 'none', later())
    await cluster.log.append(refusalsStream(keyId), readPageEventsMax - 1, later())
    let passedMs = 0
    const questions = questionsOfLog(cluster.log, { passedMs: () => (passedMs += 1_000) })
    const { message } = await find(entropy.requestId(atMs), { questions })
    const searched = Number(/none of ([\d,]+) events/.exec(message ?? '')?.[1]?.replace(',', ''))
    expect(searched).toBeWithin(readPageEventsMax, readPageEventsMax + 2 * logReadPageEvents)
  })
})

describe('searchLog()', () => {
  const filters: readonly Partial<LogPart>[] = [
    {},
    { kind: 'keys' },
    { kind: 'readings' },
    { type: 'KeySuspended' },
    { actor: 'cli' },
    { kind: 'keys', from: 2 },
    { kind: 'keys', to: 3 },
    { kind: 'log', until: 0 },
    { since: Date.UTC(2026, 2, 1, 12, 3) },
    { kind: 'readings', since: Date.UTC(2026, 2, 1, 12, 3) },
  ]
  async function* pagesOf(search: LogSearch, { from, to, ...filter }: LogPart, pageEvents: number) {
    const page = { direction: 'forwards', from, to: to ?? Number.MAX_SAFE_INTEGER, pageEvents } as const
    for await (const { events } of searchLog(search, filter, page)) yield events
  }
  const flat = async (pages: AsyncGenerator<readonly RecordedEvent[]>) => (await Array.fromAsync(pages)).flat()

  test.each(filters)('yields what a filter of the log yields: %j', async (part) => {
    const { cluster, node, keyId } = await opened()
    const { log } = cluster
    const filter = { ...wholeLog, ...part }
    // Not in the index yet: the node has not written it.
    await node.schedule.until(node.core.keys.resume(keyId, 'a test', asker))
    const asked = await node.schedule.until(flat(pagesOf(readsOf({ log, ask: derived.ask() }), filter, 2)))
    expect(asked).toEqual(await flat(pagesOf(readsOf({ log, ask: null }), filter, 2)))
  })

  test.each(filters)('leaves out readings if asked to, and nothing else: %j', async (part) => {
    const { cluster, node, keyId } = await opened()
    const { log } = cluster
    const filter = { ...wholeLog, ...part }
    await node.post(keyId, 2)
    const wanted = (await flat(pagesOf(readsOf({ log, ask: null }), filter, 2))).filter(
      ({ type }) => type !== 'ReadingAccepted',
    )
    for (const ask of [derived.ask(), null]) {
      const asked = pagesOf({ ...readsOf({ log, ask }), isWithoutReadings: true }, filter, 2)
      expect(await node.schedule.until(flat(asked))).toEqual(wanted)
    }
  })

  const fails = (error: Error) => (ask: Ask) => {
    ask.find = () => Promise.reject(error)
  }
  test.each([
    ['found damaged', fails(new AskUnusable('damaged'))],
    ['locked', fails(new AskBusy('locked'))],
  ])('reads on in the log if ask.db is %s between two pages', async (_, harm) => {
    const { cluster, node } = await opened()
    const { log } = cluster
    const filter: LogPart = { ...wholeLog, kind: 'keys' }
    const ask = derived.ask()
    const pages = pagesOf(readsOf({ log, ask }), filter, 1)
    const first = await node.schedule.until(pages.next())
    expect(first.value).toHaveLength(1)
    harm(ask)
    expect([...(first.value ?? []), ...(await node.schedule.until(flat(pages)))]).toEqual(
      await flat(pagesOf(readsOf({ log, ask: null }), filter, 1)),
    )
  })
})
