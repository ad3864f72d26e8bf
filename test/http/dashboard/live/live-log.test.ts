import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import { exportsStream } from '../../../../src/domain/stream-names.ts'
import type { LivePage } from '../../../../src/http/dashboard/live/live-push.ts'
import { livePushMs, liveReadingsMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { paths } from '../../../../views/paths.ts'
import { type RawConnection, rawConnect } from '../../../support/raw-http.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let schedule: DrivenSchedule
let admin: Visitor
let connections: RawConnection[]
/** Questions without an answer. */
let asking = 0
/** What each search of a live page was about, in the order of the searches: a key, a cellar, or `all`. */
let searched: string[]
/** Names of pages in the order of their renderings. */
let rendered: string[]

beforeEach(async () => {
  schedule = drivenSchedule()
  connections = []
  searched = []
  rendered = []
  service = await startWithOperators({
    isDerived: true,
    liveSchedule: schedule,
    livePassedMs: () => schedule.nowMs,
    wrapCore: (core) => {
      const ask: Core['questions']['ask'] = async (name, wanted, options) => {
        const { filter } = Object(wanted)
        if (name === 'findEvents') searched.push(filter.key ?? filter.cellar ?? 'all')
        asking += 1
        try {
          return await core.questions.ask(name, wanted, options)
        } finally {
          asking -= 1
        }
      }
      return { ...core, questions: { ...core.questions, ask } }
    },
  })
  admin = await signedIn(service, 'admin')
  await service.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
})
afterEach(async () => {
  for (const { drop } of connections) drop()
  await service.stop()
})

/** After a message of 30 KB that is not packed, its stream rests for so long. */
const restMs = 7 * livePushMs

const watch = async (path: string): Promise<RawConnection> => {
  const connection = await rawConnect(service.url)
  connections.push(connection)
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  await connection.send(`GET ${path} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nCookie: ${cookie}\r\n\r\n`)
  await connection.answers(1)
  return connection
}

/** Lets the work of this instant go on until `isSo` is true and no page waits for an answer. No time passes. */
const doneUntil = async (isSo: () => boolean): Promise<void> => {
  while (!isSo() || asking > 0) await schedule.advance(0)
  await schedule.quiet()
}

/** Opens a live page that is rendered again whenever it has changed, and renders it. */
const openPage = async (page: Pick<LivePage, 'name' | 'listsEvents'>): Promise<void> => {
  const body = service.live.open({
    page: {
      ...page,
      topic: 'all',
      questionsMs: () => 0,
      render: async () => {
        rendered.push(page.name)
        return null
      },
    },
    viewer: { sessionSecret: page.name, operatorStream: 'operator-s', isAllowed: () => true },
    signal: new AbortController().signal,
    isPacked: false,
  })
  if (typeof body === 'string') throw new Error(body)
  await schedule.advance(livePushMs)
  expect(rendered).toEqual([page.name])
  rendered = []
}

/** Opens a live page for each filter. Returns when each was rendered once. */
const watchAll = async (filters: readonly Parameters<typeof paths.liveLog>[0][]): Promise<void> => {
  const all: RawConnection[] = []
  for (const filter of filters) all.push(await watch(paths.liveLog(filter)))
  await schedule.advance(livePushMs)
  await doneUntil(() => all.every((connection) => connection.received().includes('data: ')))
  await schedule.advance(restMs)
  searched = []
}

type Key = { readonly key: string; readonly keyId: string }

const post = async ({ key, keyId }: Key): Promise<void> => {
  const before = service.core.projections.readings.usage(keyId)?.accepted ?? 0
  await service.post(validReading, key)
  await service.untilFolded(keyId, before + 1)
}

const rename = async (title: string): Promise<void> => {
  await service.core.cellars.rename(testCellar, title, testAsker)
  await until(() => service.core.projections.cellars.get(testCellar)?.title === title)
}

describe('a live list of events', () => {
  test('shows an act of a person at once, and new readings together with other lists', async () => {
    const key = await service.createKey()
    await openPage({ name: 'list', listsEvents: true })
    for (let passedMs = 2 * livePushMs; passedMs < liveReadingsMs; passedMs += livePushMs) {
      await post(key)
      await schedule.advance(livePushMs)
    }
    expect(rendered).toEqual([])
    await schedule.advance(livePushMs)
    expect(rendered).toEqual(['list'])
    await post(key)
    await rename('the old cellar')
    await schedule.advance(livePushMs)
    expect(rendered).toEqual(['list', 'list'])
  })

  test('is not searched for readings of other keys and cellars', async () => {
    const [one, other] = [await service.createKey(), await service.createKey()]
    await service.core.cellars.create({ cellar: 'beer', title: '' }, testAsker)
    await watchAll([{ key: one.keyId }, { key: `clr_${other.keyId}_…` }, { cellar: testCellar }, { cellar: 'beer' }])
    await post(other)
    await schedule.advance(liveReadingsMs)
    await doneUntil(() => searched.length === 2)
    await rename('the old cellar')
    await schedule.advance(restMs)
    await doneUntil(() => searched.length === 6)
    expect(searched.slice(0, 2).toSorted()).toEqual([other.keyId, testCellar].toSorted())
    expect(searched.slice(2).toSorted()).toEqual([one.keyId, other.keyId, testCellar, 'beer'].toSorted())
  })

  test('is not searched for readings if it shows none', async () => {
    const key = await service.createKey()
    await watchAll([{ kind: 'keys' }, { type: 'KeyCreated', key: key.keyId }, { kind: 'refusals' }])
    await post(key)
    await schedule.advance(liveReadingsMs)
    await doneUntil(() => searched.length === 1)
    await rename('the old cellar')
    await schedule.advance(restMs)
    await doneUntil(() => searched.length === 4)
  })

  test('shows a record before the next heartbeat', async () => {
    await watchAll([{ type: 'LogExported' }])
    const [watching] = connections
    const filter = { type: 'KeyCreated' }
    const begun = { phase: 'begun', begunRevision: null, list: 'events', format: 'csv', filter, why: null } as const
    const { promise: told, resolve } = Promise.withResolvers<void>()
    service.core.onFolded((items) => {
      if (items.some(({ stream }) => stream === exportsStream)) resolve()
    })
    await service.core.recordExport({ ...begun, address: null, rows: 0 }, testAsker)
    await told
    await schedule.advance(livePushMs)
    await doneUntil(() => watching?.received().includes('event-') === true)
  })

  test('shows a change of an operator before the next heartbeat', async () => {
    await watchAll([{ kind: 'operators' }])
    const [watching] = connections
    const link = await service.core.operators.issueLink({ email: 'new@example.org', role: 'auditor' }, testAsker)
    await until(() => link.ok && service.core.operators.link(link.value.secret) !== null)
    await schedule.advance(livePushMs)
    await doneUntil(() => watching?.received().includes('new@example.org') === true)
  })
})
