import { afterEach, describe, expect, test } from 'bun:test'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { SearchQueue } from '../../../src/http/dashboard/ask/search-queue.ts'
import { searchesMax, searchesWaitingMax, searchesWaitingPerOperatorMax } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { emailOf } from '../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators } from './visitor.ts'

let service: Service | null = null
afterEach(() => service?.stop())

/** Searches of the Log page wait until `release`. */
const startHeld = async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const running = { now: 0, most: 0 }
  const started = await startWithOperators({
    wrapCore: (core) => {
      const asking = withAsk()(core)
      const { ask } = asking
      if (ask === null) return asking
      const find: typeof ask.find = async (...args) => {
        running.now += 1
        running.most = Math.max(running.most, running.now)
        await held
        running.now -= 1
        return ask.find(...args)
      }
      return { ...asking, ask: { ...ask, find } }
    },
  })
  service = started
  await started.createKey()
  return { service: started, running, release }
}

test('an operator with very many searches is asked to try again, and delays nobody', async () => {
  const { service: held, running, release } = await startHeld()
  const [admin, auditor] = [await signedIn(held, 'admin'), await signedIn(held, 'auditor')]
  const tabs = Array.from({ length: searchesMax + searchesWaitingPerOperatorMax + 1 }, () =>
    admin.get(paths.log({ kind: 'keys' })),
  )
  const { status, headers, body } = await Promise.race(tabs)
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(body).toContain('Too many searches at once')
  expect(body).toContain('href="/log?kind=keys"')
  const other = auditor.get(paths.log())
  expect((await admin.get(paths.cellar(testCellar))).status).toBe(200)
  expect(running).toEqual({ now: searchesMax, most: searchesMax })
  release()
  const statuses = (await Promise.all(tabs)).map((answer) => answer.status)
  expect(statuses.filter((one) => one === 200)).toHaveLength(searchesMax + searchesWaitingPerOperatorMax)
  expect((await other).status).toBe(200)
  expect(running).toEqual({ now: 0, most: searchesMax })
})

test('a search is not shown if its session ends while it waits', async () => {
  const { service: held, running, release } = await startHeld()
  const admin = await signedIn(held, 'admin')
  const first = Array.from({ length: searchesMax }, () => admin.get(paths.log()))
  await until(() => running.now === searchesMax)
  const auditor = await signedIn(held, 'auditor')
  const waiting = auditor.get(paths.log())
  await until(() => held.server.pendingRequests === searchesMax + 1)
  await held.core.operators.endSessions(emailOf.auditor, { allBut: null }, testAsker)
  release()
  expect((await waiting).location).toStartWith('/sign-in')
  await Promise.all(first)
})

test('the newest readings of a key take two reads, however many there are', async () => {
  const reads: string[] = []
  const started = await startWithOperators({
    wrapCore: (core) => {
      const read: typeof core.log.read = (stream, options) => {
        reads.push(stream)
        return core.log.read(stream, options)
      }
      return { ...core, log: { ...passingLog(core.log), read } }
    },
  })
  service = started
  const { key, keyId } = await started.createKey()
  for (let count = 0; count < 20; count += 1) await started.post(validReading, key)
  const admin = await signedIn(started, 'admin')
  const { body } = await admin.get(paths.log({ kind: 'readings', key: keyId }))
  expect(body.match(/<tr id="event-/g)).toHaveLength(20)
  expect(reads).toEqual([readingsStream(keyId), readingsStream(keyId)])
})

describe('SearchQueue', () => {
  const heldSearches = () => {
    const queue = new SearchQueue()
    const { promise: held, resolve: release } = Promise.withResolvers<string>()
    const run = (name: string, signal: AbortSignal | null = null) => queue.run({ name, signal }, () => held)
    return { queue, run, release }
  }

  test('turns away the first search beyond all waiting ones', async () => {
    const { queue, run, release } = heldSearches()
    const all = Array.from({ length: searchesMax + searchesWaitingMax }, (_, at) => run(`operator ${at}`))
    expect([queue.running, queue.waiting]).toEqual([searchesMax, searchesWaitingMax])
    expect(await run('one more')).toBeNull()
    release('found')
    expect(new Set(await Promise.all(all))).toEqual(new Set(['found']))
    expect([queue.running, queue.waiting]).toEqual([0, 0])
  })

  test('forgets a waiting search when its browser has gone', async () => {
    const { queue, run, release } = heldSearches()
    const running = Array.from({ length: searchesMax }, () => run('ada'))
    const leaving = new AbortController()
    const waiting = run('ada', leaving.signal)
    leaving.abort()
    expect(await waiting).toBeNull()
    expect(queue.waiting).toBe(0)
    release('found')
    await Promise.all(running)
    expect(queue.running).toBe(0)
  })

  test('gives the place of a failed search to the next', async () => {
    const queue = new SearchQueue()
    const fail = (): Promise<never> => Promise.reject(new Error('a fault'))
    for (let search = 0; search <= searchesMax; search += 1)
      await expect(queue.run({ name: 'ada', signal: null }, fail)).rejects.toThrow('a fault')
    expect(queue.running).toBe(0)
  })
})
