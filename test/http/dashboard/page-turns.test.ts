import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { keysPerPieceMax } from '../../../src/actors/search/find-keys.ts'
import { pageTurnBounds } from '../../../src/http/dashboard/dashboard-routes.tsx'
import { keysAskedAtOnceMax } from '../../../src/http/dashboard/show/cellar-views.ts'
import { paths } from '../../../views/paths.ts'
import { mostInOneTurn } from '../../support/most-in-one-turn.ts'
import { type Service, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

/** More pages of one operator are not made at once. */
const count = pageTurnBounds.runningPerOperatorMax

let service: Service
let admin: Visitor
let keyId: string
let pieces = 0

beforeAll(async () => {
  service = await startWithOperators()
  admin = await signedIn(service, 'admin')
  const created = await service.createKey()
  keyId = created.keyId
  await service.post(validReading, created.key)
  await service.untilFolded(keyId, 1)
  // Opens the connections now, because later requests arrive at the same time only on open connections.
  await load(paths.cellars)
})
afterAll(async () => {
  await service.stop()
})

const load = async (path: string): Promise<void> => {
  const loads = Array.from({ length: count }, () => admin.get(path))
  for (const { status } of await Promise.all(loads)) expect(status).toBe(200)
}

const countShown = () => {
  const { cellars } = service.core.projections
  const get = cellars.get.bind(cellars)
  return spyOn(cellars, 'get').mockImplementation((name) => {
    const cellar = get(name)
    return cellar === null
      ? null
      : {
          ...cellar,
          get createdBy() {
            pieces += 1
            return cellar.createdBy
          },
        }
  })
}

describe(`${count} loads at once`, () => {
  test('of a cellar’s readings are rendered in turns of their own', async () => {
    using _shown = countShown()
    const before = pieces
    expect(await mostInOneTurn(() => pieces, load(paths.cellar(testCellar)))).toBeLessThanOrEqual(2)
    expect(pieces - before).toBe(count)
  })

  test('of all cellars are counted in turns of their own', async () => {
    const { cellars } = service.core.projections
    const list = cellars.list.bind(cellars)
    // Once for the rows, and once for their number.
    using _list = spyOn(cellars, 'list').mockImplementation(() => {
      pieces += 1
      return list()
    })
    const before = pieces
    expect(await mostInOneTurn(() => pieces, load(paths.cellars))).toBeLessThanOrEqual(4)
    expect(pieces - before).toBe(2 * count)
  })

  test('of keys are found in pieces with turns of their own', async () => {
    const { keys } = service.core.projections
    const key = keys.get(keyId)
    if (key === null) throw new Error('no key')
    using _each = spyOn(keys, 'each').mockImplementation(function* () {
      for (let at = 0; at < 5 * keysPerPieceMax; at += 1) {
        pieces += 1
        yield key
      }
    })
    const before = pieces
    const answers = load(paths.keys(testCellar))
    expect(await mostInOneTurn(() => pieces, answers)).toBeLessThanOrEqual(2 * keysPerPieceMax)
    expect(pieces - before).toBe(count * 5 * keysPerPieceMax)
  })

  test('of a key are rendered in turns after the store’s answer', async () => {
    using _shown = countShown()
    let waiting = 0
    const { promise, resolve } = Promise.withResolvers<null>()
    using _usage = spyOn(service.core.keys, 'usage').mockImplementation(() => {
      waiting += 1
      return promise
    })
    const before = pieces
    const answers = load(paths.key(keyId))
    await until(() => waiting === count)
    resolve(null)
    expect(await mostInOneTurn(() => pieces, answers)).toBeLessThanOrEqual(2)
    expect(pieces - before).toBe(count)
  })
})

test('an operator with very many pages delays nobody else', async () => {
  const auditor = await signedIn(service, 'auditor')
  let waiting = 0
  const { promise, resolve } = Promise.withResolvers<null>()
  using _usage = spyOn(service.core.keys, 'usage').mockImplementation(() => {
    waiting += 1
    return promise
  })
  const { runningPerOperatorMax, waitingPerOperatorMax } = pageTurnBounds
  const tabs = Array.from({ length: runningPerOperatorMax + waitingPerOperatorMax + 1 }, () =>
    auditor.get(paths.key(keyId)),
  )
  expect((await Promise.race(tabs)).status).toBe(503)
  await until(() => waiting === runningPerOperatorMax)
  const other = admin.get(paths.key(keyId))
  await until(() => waiting === runningPerOperatorMax + 1)
  resolve(null)
  expect((await other).status).toBe(200)
  const statuses = (await Promise.all(tabs)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(runningPerOperatorMax + waitingPerOperatorMax)
})

test('a page is not shown if its session ends before its turn', async () => {
  const { operators } = service.core
  const session = operators.session.bind(operators)
  using _session = spyOn(operators, 'session')
    .mockImplementation(() => null)
    .mockImplementationOnce(session)
  expect((await admin.get(paths.cellars)).location).toStartWith('/sign-in')
})

test('the page of all cellars asks many keys at once, and not too many', async () => {
  const more = await startWithOperators()
  const visitor = await signedIn(more, 'admin')
  for (let made = 0; made <= keysAskedAtOnceMax; made += 1) {
    const cellar = made % 2 === 0 ? testCellar : 'beer'
    const { key, keyId } = await more.createKey({ cellar })
    await more.post({ ...validReading, cellar }, key)
    await more.untilFolded(keyId, 1)
  }
  let asked = 0
  const { promise, resolve } = Promise.withResolvers<null>()
  using _usage = spyOn(more.core.keys, 'usage').mockImplementation(() => {
    asked += 1
    return promise
  })
  const answer = visitor.get(paths.cellars)
  await until(() => asked === keysAskedAtOnceMax)
  resolve(null)
  expect((await answer).status).toBe(200)
  expect(asked).toBe(keysAskedAtOnceMax + 1)
  await more.stop()
})
