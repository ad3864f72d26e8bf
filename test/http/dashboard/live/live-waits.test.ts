import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import {
  liveHeartbeatMs,
  livePushMs,
  liveStoreWaitsMax,
  liveStreamsPerSessionMax,
} from '../../../../src/http/dashboard/live/live-push.ts'
import { paths } from '../../../../views/paths.ts'
import { mostInOneTurn } from '../../../support/most-in-one-turn.ts'
import { type RawConnection, rawConnect } from '../../../support/raw-http.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let schedule: DrivenSchedule
let connections: RawConnection[]
let reads: string[]
let answerReads: () => void

beforeEach(async () => {
  schedule = drivenSchedule()
  connections = []
  reads = []
  const { promise, resolve } = Promise.withResolvers<void>()
  answerReads = resolve
  service = await startWithOperators({
    liveSchedule: schedule,
    livePassedMs: () => schedule.nowMs,
    wrapCore: (core) => ({
      ...core,
      questions: {
        ...core.questions,
        ask: async (name, wanted, options) => {
          if (name === 'findEvents') reads.push(Object(wanted).filter.key)
          const answered = await core.questions.ask(name, wanted, options)
          if (name === 'findEvents') await promise
          return answered
        },
      },
    }),
  })
})
afterEach(async () => {
  answerReads()
  for (const { drop } of connections) drop()
  await service.stop()
})

const watch = async (path: string, { cookies }: Visitor): Promise<RawConnection> => {
  const connection = await rawConnect(service.url)
  connections.push(connection)
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  await connection.send(`GET ${path} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nCookie: ${cookie}\r\n\r\n`)
  await connection.answers(1)
  return connection
}

type Key = { readonly key: string; readonly keyId: string }

const post = async ({ key, keyId }: Key): Promise<void> => {
  const before = service.core.projections.readings.usage(keyId)?.accepted ?? 0
  await service.post(validReading, key)
  await service.untilFolded(keyId, before + 1)
}

const usedKey = async (): Promise<Key> => {
  const key = await service.createKey()
  await post(key)
  await post(key)
  return key
}

const pushes = (connection: RawConnection): number => connection.received().match(/^data: /gm)?.length ?? 0
const heartbeats = (connection: RawConnection): number => connection.received().match(/: still here/g)?.length ?? 0

const changeAndTick = async (title: string): Promise<void> => {
  await service.core.cellars.rename(testCellar, title, testAsker)
  await until(() => service.core.projections.cellars.get(testCellar)?.title === title)
  await schedule.advance(livePushMs)
}

describe('a page that waits for the store', () => {
  test('delays no other page and no heartbeat', async () => {
    const admin = await signedIn(service, 'admin')
    const { keyId } = await usedKey()
    const slow = await watch(paths.liveFirstReading(keyId), admin)
    const other = await watch(paths.liveCellars(), admin)
    const ticks = (2 * liveHeartbeatMs) / livePushMs
    for (let tick = 1; tick <= ticks; tick += 1) {
      await changeAndTick(`title ${tick}`)
      await until(() => pushes(other) >= tick)
    }
    for (const connection of [slow, other]) await until(() => heartbeats(connection) === 2)
    expect(reads).toEqual([keyId])
    expect(pushes(slow)).toBe(0)
    answerReads()
    await until(() => pushes(slow) === 1)
  })

  test('does not rest for its wait', async () => {
    const admin = await signedIn(service, 'admin')
    const key = await usedKey()
    const slow = await watch(paths.liveFirstReading(key.keyId), admin)
    await schedule.advance(8 * livePushMs)
    answerReads()
    await until(() => pushes(slow) === 1)
    await post(key)
    const before = reads.length
    await schedule.advance(livePushMs)
    expect(reads.length).toBe(before + 1)
  })

  test('makes its rows in a turn of its own', async () => {
    const watching: RawConnection[] = []
    for (let count = 0, admin = await signedIn(service, 'admin'); count < 12; count += 1) {
      if (count % liveStreamsPerSessionMax === 0) admin = await signedIn(service, 'admin')
      watching.push(await watch(paths.liveLog({ actor: `nobody-${count}@example.org` }), admin))
    }
    await schedule.advance(livePushMs)
    await until(() => reads.length === watching.length)
    // Each list suggests the cellars once, after its rows.
    using list = spyOn(service.core.projections.cellars, 'list')
    answerReads()
    const arePushed = until(() => watching.every((connection) => pushes(connection) === 1))
    expect(await mostInOneTurn(() => list.mock.calls.length, arePushed)).toBeLessThanOrEqual(2)
    expect(list.mock.calls.length).toBe(watching.length)
  })

  test(`is not started while ${liveStoreWaitsMax} others wait`, async () => {
    const keys: Key[] = []
    for (let count = 0; count <= liveStoreWaitsMax; count += 1) keys.push(await usedKey())
    const watching: RawConnection[] = []
    let admin = await signedIn(service, 'admin')
    for (const [index, { keyId }] of keys.entries()) {
      if (index % liveStreamsPerSessionMax === 0) admin = await signedIn(service, 'admin')
      watching.push(await watch(paths.liveFirstReading(keyId), admin))
    }
    await schedule.advance(2 * livePushMs)
    expect(reads.toSorted()).toEqual(
      keys
        .slice(0, liveStoreWaitsMax)
        .map(({ keyId }) => keyId)
        .toSorted(),
    )
    // Each rendering looks up its key once, so this counts the renderings.
    const { keys: known } = service.core.projections
    const get = known.get.bind(known)
    let rendered = 0
    using _get = spyOn(known, 'get').mockImplementation((keyId) => {
      rendered += 1
      return get(keyId)
    })
    answerReads()
    const arePushed = until(() => watching.slice(0, -1).every((connection) => pushes(connection) >= 1))
    expect(await mostInOneTurn(() => rendered, arePushed)).toBeLessThanOrEqual(2)
    expect(rendered).toBeGreaterThanOrEqual(liveStoreWaitsMax)
    await schedule.advance(livePushMs)
    await until(() => watching.every((connection) => pushes(connection) >= 1))
  })
})
