import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { CellarReadings } from '../../../../src/asked/question-kinds.ts'
import type { KegsWanted } from '../../../../src/derived/readings/shown-kegs.ts'
import {
  liveHeartbeatMs,
  livePushMs,
  liveQuestionsMsPerTick,
  liveRestFactor,
  liveSentPerPiece,
  liveStreamsMax,
  liveStreamsPerSessionMax,
} from '../../../../src/http/dashboard/live/live-push.ts'
import { liveRenderMsPerTick } from '../../../../src/http/dashboard/live/live-render-queue.ts'
import {
  liveBusyPollMs,
  liveBytesPerSecondMax,
  livePollMs,
  liveReconnectMs,
} from '../../../../src/http/dashboard/live/server-sent-events.ts'
import { kegFilterWordsMax } from '../../../../src/http/dashboard/show/reading-views.ts'
import { paths } from '../../../../views/paths.ts'
import { readingsAnswers } from '../../../support/derived/readings-answers.ts'
import { type RawConnection, rawConnect } from '../../../support/raw-http.ts'
import { addOperator, fromSomewhere, testPassword } from '../../../support/test-operators.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'

let service: Service
let timers: DrivenSchedule
let turns: number
/** The time that all renderings have taken together. `costMsOf` says how long each one takes. */
let renderingMs: number
let costMsOf: (cellar: string) => number
/** How long the thread works for each rendering. */
let questionMs: number
/** Cellars in the order of their renderings. */
let rendered: string[]
let connections: RawConnection[]

/** Notes each rendering, and lets it take the time of `costMsOf`. */
const countedReadings = ({ cellar }: KegsWanted): CellarReadings => {
  rendered.push(cellar)
  renderingMs += costMsOf(cellar)
  const place = { stream: 'readings-k', keyId: 'k', revision: 0, position: 0, recordedAt: 0 }
  const latest = { ...place, value: 1, timestamp: '2026-03-01T12:00:00Z', timeMs: 0 }
  const keg = { rack: 'rack-17', keg: 'temperature', latest, day: [1], acceptedMs: 0, pauseMs: null, isSilent: false }
  const kegs = longNames === 0 ? [keg] : Array.from({ length: longNames }, () => ({ ...keg, keg: unpackable() }))
  return { kegs: { kegs, page: 1, pages: 1, found: kegs.length, all: kegs.length }, racks: [], recent: [] }
}

/** So many kegs have a new long name in each rendering. */
let longNames: number
/** No packing makes such a name much shorter. */
const unpackable = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(96))).toString('base64')

const sessionsMax = liveStreamsMax / liveStreamsPerSessionMax
const sessionsPerOperator = 16
const operatorsMax = sessionsMax / sessionsPerOperator

const emailOf = (operator: number): string => `viewer-${operator}@example.org`

beforeEach(async () => {
  timers = drivenSchedule()
  turns = 0
  renderingMs = 0
  costMsOf = () => 0
  questionMs = 0
  rendered = []
  longNames = 0
  connections = []
  const liveSchedule = {
    ...timers,
    soon: (run: () => void) => {
      turns += 1
      timers.soon(run)
    },
  }
  service = await startService({
    liveSchedule,
    livePassedMs: () => timers.nowMs + renderingMs,
    wrapCore: (core) => ({ ...core, questions: readingsAnswers(countedReadings, core.questions, () => questionMs) }),
  })
  for (let operator = 0; operator < operatorsMax; operator += 1) {
    await addOperator(service.log, service.clock.now(), { email: emailOf(operator), role: 'admin' })
  }
  await until(() => service.core.projections.operators.list().length === operatorsMax)
})
afterEach(async () => {
  for (const { drop } of connections) drop()
  await service.stop()
})

const signIn = async (session = 0): Promise<string> => {
  const input = { email: emailOf(Math.floor(session / sessionsPerOperator)), password: testPassword }
  const answer = await service.core.operators.signIn(input, fromSomewhere, 'test')
  if (!answer.ok) throw new Error(`Cannot sign in for a test: ${answer.refusal.kind}`)
  return `__Host-cellarbook=${answer.value.sessionSecret}`
}

type Stream = {
  readonly status: number
  readonly encoding: string | null
  readonly connection: RawConnection
  readonly text: () => string
}

const open = async (path: string, cookie: string, headers = ''): Promise<Stream> => {
  const connection = await rawConnect(service.url)
  connections.push(connection)
  await connection.send(
    `GET ${path} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nCookie: ${cookie}\r\n${headers}\r\n`,
  )
  const [head] = await connection.answers(1)
  return {
    status: head?.status ?? 0,
    encoding: head?.headers.get('content-encoding') ?? null,
    connection,
    text: connection.received,
  }
}

const openAll = async (pathsOf: readonly string[], cookies: readonly string[]): Promise<readonly Stream[]> => {
  const streams: Stream[] = []
  for (const [index, path] of pathsOf.entries()) {
    streams.push(await open(path, cookies[Math.floor(index / liveStreamsPerSessionMax)] ?? ''))
  }
  return streams
}

/** Signs in one by one, because the queue takes only a few passwords of one network at a time. */
const sessions = async (count: number): Promise<readonly string[]> => {
  const cookies: string[] = []
  for (let session = 0; session < count; session += 1) cookies.push(await signIn(session))
  return cookies
}

const createCellars = async (count: number): Promise<readonly string[]> => {
  const names = Array.from({ length: count }, (_, number) => `cellar-${number}`)
  for (const cellar of names) await service.core.cellars.create({ cellar, title: '' }, testAsker)
  return names
}

const tick = async (): Promise<void> => {
  rendered = []
  await timers.advance(livePushMs)
}

describe('the streams of one session', () => {
  test(`are at most ${liveStreamsPerSessionMax}: the next one is a poll, which ends with its first message`, async () => {
    const [mine, other] = [await signIn(0), await signIn(1)]
    const theirs = await open(paths.liveCellars(), other)
    const streams = await openAll(Array(liveStreamsPerSessionMax).fill(paths.liveCellars()), [mine])
    for (const stream of [theirs, ...streams]) expect(stream.text()).toContain(`retry: ${liveReconnectMs}\n`)
    const poll = await open(paths.liveCellars(), mine)
    expect(poll.text()).toContain(`event: pace\nretry: ${livePollMs}\ndata:\n\n`)
    const busy = await open(paths.liveCellars(), mine)
    await until(() => busy.text().includes(`event: pace\nretry: ${liveBusyPollMs}\ndata:\n\n`))
    expect(service.live.streams).toBe(1 + liveStreamsPerSessionMax + 1)
    await tick()
    await until(() => poll.text().includes('cellar-list'))
    expect(service.live.streams).toBe(1 + liveStreamsPerSessionMax)
    streams[0]?.connection.drop()
    await until(() => service.live.streams === liveStreamsPerSessionMax)
    expect((await open(paths.liveCellars(), mine)).text()).toContain(`retry: ${liveReconnectMs}\n`)
  })

  test('poll no longer than a heartbeat, even if there is nothing to show', async () => {
    const mine = await signIn(0)
    const { keyId } = await service.createKey()
    await openAll(Array(liveStreamsPerSessionMax).fill(paths.liveCellars()), [mine])
    await open(paths.liveFirstReading(keyId), mine)
    expect(service.live.streams).toBe(liveStreamsPerSessionMax + 1)
    await tick()
    expect(service.live.streams).toBe(liveStreamsPerSessionMax)
    costMsOf = () => liveRenderMsPerTick
    await open(paths.liveReadings(testCellar), mine)
    await timers.advance(liveHeartbeatMs)
    expect(service.live.streams).toBe(liveStreamsPerSessionMax)
  })
})

describe(`${liveStreamsMax} streams of ${sessionsMax} sessions`, () => {
  /** These addresses have different queries, but all show the first page of all kegs. */
  const sameAddress = (number: number): string => {
    const queries = [`x=${number}`, `page=1&x=${number}`, `x=${number}&page=${number + 2}`, `find=+&page=0${number}`]
    return `${paths.liveReadings(testCellar)}?${queries[number % queries.length]}`
  }

  test('of one page are rendered once; another gets 429', async () => {
    const { key, keyId } = await service.createKey()
    const cookies = await sessions(sessionsMax)
    const addresses = Array.from({ length: liveStreamsMax }, (_, number) => sameAddress(number))
    const streams = await openAll(addresses, cookies)
    expect([service.live.streams, service.live.pages]).toEqual([liveStreamsMax, 1])
    await service.post(validReading, key)
    await service.untilFolded(keyId, 1)
    turns = 0
    await tick()
    expect(rendered).toEqual([testCellar])
    expect(turns).toBe(liveStreamsMax / liveSentPerPiece + 2)
    for (const stream of streams) await until(() => stream.text().includes('rack-17'))

    const refused = await open(paths.liveCellars(), await signIn(sessionsMax - 1))
    expect(refused.status).toBe(429)
    streams[8]?.connection.drop()
    await until(() => service.live.streams < liveStreamsMax)
    expect((await open(paths.liveCellars(), await signIn(sessionsMax - 1))).status).toBe(200)
  })
})

describe('addresses of live pages', () => {
  test('that show the same are one page, on every route', async () => {
    const { keyId } = await service.createKey()
    const variants: readonly (readonly [string, readonly string[]])[] = [
      [paths.liveCellars(), ['', '?page=1', '?page=7', '?page=-1', '?x=1', '?status=revoked']],
      [
        paths.liveReadings(testCellar),
        ['?find=a+b', '?find=A%20%20B+a', '?page=9&find=a+b', '?find=a+b&page=1', '?x=1&find=+a+b+'],
      ],
      [paths.liveKeys(testCellar), ['', '?status=active', '?status=none&page=1', '?page=3', '?find=+', '?live=off']],
      [paths.liveAllKeys(), ['', '?status=active', '?page=7&order=x', '?find=%20']],
      [paths.liveKey(keyId), ['', '?page=1', '?page=20', '?at=2026-03-01', '?x=1']],
      [paths.liveFirstReading(keyId), ['', '?page=2', '?x=1']],
    ]
    for (const [index, [path, queries]] of variants.entries()) {
      const before = service.live.pages
      const cookie = await signIn(index)
      for (const query of queries) expect((await open(path + query, cookie)).status).toBe(200)
      expect([path, service.live.pages]).toEqual([path, before + 1])
    }
    await open(paths.liveReadings(testCellar, 'a c'), await signIn(9))
    expect(service.live.pages).toBe(variants.length + 1)
  })

  test(`with more than ${kegFilterWordsMax} words find the first ${kegFilterWordsMax}`, async () => {
    const { key, keyId } = await service.createKey()
    const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    await service.post({ ...validReading, rack: 'abcd', keg: 'efgh' }, key)
    await service.untilFolded(keyId, 1)
    const cookie = await signIn()
    const page = async (count: number): Promise<string> => {
      const find = words.slice(0, count).join(' ')
      return (await fetch(service.url + paths.cellar(testCellar, find), { headers: { Cookie: cookie } })).text()
    }
    const [eight, nine] = [await page(kegFilterWordsMax), await page(kegFilterWordsMax + 1)]
    expect(eight).toContain('1 of 1 keg')
    expect(eight).not.toContain('Ignored')
    expect(nine).toContain('1 of 1 keg')
    expect(nine).toContain(
      `Only the first ${kegFilterWordsMax} words are used. These words are ignored:</span> <bdi>i</bdi>`,
    )
    for (const count of [8, 9]) await open(paths.liveReadings(testCellar, words.slice(0, count).join(' ')), cookie)
    expect(service.live.pages).toBe(1)
  })
})

describe('a live page', () => {
  const packed = 'Accept-Encoding: gzip\r\nSec-Fetch-Site: same-origin\r\n'

  /** Changes the page before each tick. Returns the bytes of each tick. */
  const bytesOfTicks = async ({ receivedBytes }: RawConnection, ticks: number): Promise<readonly number[]> => {
    const bytes: number[] = []
    for (let count = 0; count < ticks; count += 1) {
      const before = receivedBytes()
      await service.core.cellars.rename(testCellar, `title ${count}`, testAsker)
      await until(() => service.core.projections.cellars.get(testCellar)?.title === `title ${count}`)
      await tick()
      if (rendered.length > 0) await until(() => receivedBytes() > before + 256)
      bytes.push(receivedBytes() - before)
    }
    return bytes
  }

  test.each([
    ['wide', 'plain', 100, 1],
    ['wide', 'packed', 100, 4],
    ['narrow', 'plain', 1, 60],
    ['narrow', 'packed', 1, 60],
  ])('that is %s and %s keeps to 10 KiB a second', async (_, how, names, pushesMin) => {
    longNames = names
    await service.createKey()
    const path = paths.liveReadings(testCellar)
    const { connection, encoding } = await open(path, await signIn(), how === 'packed' ? packed : '')
    expect(encoding).toBe(how === 'packed' ? 'gzip' : null)
    const seconds = 30
    const bytes = await bytesOfTicks(connection, (seconds * 1_000) / livePushMs)
    const sum = bytes.reduce((one, other) => one + other, 0)
    const last = bytes.findLast((ofTick) => ofTick > 256) ?? 0
    expect(sum - last).toBeLessThanOrEqual(seconds * liveBytesPerSecondMax)
    expect(bytes.filter((ofTick) => ofTick > 256).length).toBeGreaterThanOrEqual(pushesMin)
  })

  test('that polls asks again later after a large message', async () => {
    longNames = 100
    await service.createKey()
    const cookie = await signIn()
    await openAll(Array(liveStreamsPerSessionMax).fill(paths.liveCellars()), [cookie])
    const { connection, text } = await open(paths.liveReadings(testCellar), cookie)
    await tick()
    await until(() => service.live.streams === liveStreamsPerSessionMax)
    await until(() => text().includes('0\r\n\r\n'))
    const pauses = [...text().matchAll(/retry: (\d+)\n/g)].map(([, ms]) => Number(ms))
    expect(pauses[0]).toBe(livePollMs)
    // Browsers wait up to 30 % less.
    expect(((pauses[1] ?? 0) * 0.7 * liveBytesPerSecondMax) / 1_000).toBeGreaterThanOrEqual(
      connection.receivedBytes() - 1_024,
    )
  })
})

describe('the rendering of live pages', () => {
  test('serves operators in turn, so that many pages of one do not delay another', async () => {
    const cellars = await createCellars(12)
    costMsOf = () => liveRenderMsPerTick
    const [first = '', ...others] = cellars
    await openAll(
      others.map((cellar) => paths.liveReadings(cellar)),
      await sessions(3),
    )
    await tick()
    await open(paths.liveReadings(first), await signIn(sessionsPerOperator))
    await tick()
    expect(rendered).toEqual([first])
  })

  test('stops when the tick’s time is spent, and continues later', async () => {
    const cellars = await createCellars(20)
    costMsOf = () => 9
    await openAll(
      cellars.map((cellar) => paths.liveReadings(cellar)),
      await sessions(cellars.length / liveStreamsPerSessionMax),
    )
    const perTick = Math.ceil(liveRenderMsPerTick / 9)
    const all: string[] = []
    while (all.length < 3 * cellars.length) {
      await service.core.cellars.rename(testCellar, `title ${all.length}`, testAsker)
      await service.core.cellars.rename(cellars[0] ?? '', `title ${all.length}`, testAsker)
      await tick()
      expect(rendered.length).toBeLessThanOrEqual(perTick)
      all.push(...rendered)
    }
    for (const round of [0, 1, 2]) {
      const turn = all.slice(round * cellars.length, (round + 1) * cellars.length)
      expect(turn.toSorted()).toEqual(cellars.toSorted())
    }
  })

  test('finishes a page that takes a whole tick', async () => {
    const cellars = await createCellars(3)
    costMsOf = () => liveRenderMsPerTick
    await openAll(
      cellars.map((cellar) => paths.liveReadings(cellar)),
      await sessions(1),
    )
    for (const cellar of cellars) {
      await tick()
      expect(rendered).toEqual([cellar])
    }
  })

  test('lets a slow page rest, but no fast page', async () => {
    const [slow = '', fast = ''] = await createCellars(2)
    costMsOf = (cellar) => (cellar === slow ? 40 : 0)
    await openAll([paths.liveReadings(slow), paths.liveReadings(fast)], [await signIn()])
    const times: Record<string, number> = { [slow]: 0, [fast]: 0 }
    const restsTicks = (40 * liveRestFactor) / livePushMs
    for (let count = 0; count < 3 * restsTicks; count += 1) {
      await service.core.cellars.rename(fast, `title ${count}`, testAsker)
      await tick()
      for (const cellar of rendered) times[cellar] = (times[cellar] ?? 0) + 1
    }
    expect(times).toEqual({ [slow]: 3, [fast]: 3 * restsTicks })
  })

  test('asks few questions in a tick', async () => {
    const cellars = await createCellars(liveStreamsPerSessionMax)
    await openAll(
      cellars.map((cellar) => paths.liveReadings(cellar)),
      await sessions(1),
    )
    questionMs = liveQuestionsMsPerTick / 2
    await tick()
    expect(rendered).toEqual(cellars.slice(0, 2))
    await tick()
    expect(rendered).toEqual(cellars.slice(2))
  })

  test('lets a page rest for its questions', async () => {
    const [cellar = ''] = await createCellars(1)
    await open(paths.liveReadings(cellar), await signIn())
    questionMs = liveQuestionsMsPerTick
    const restsTicks = (questionMs * liveRestFactor) / livePushMs
    let times = 0
    for (let count = 0; count < 3 * restsTicks; count += 1) {
      await service.core.cellars.rename(cellar, `title ${count}`, testAsker)
      await tick()
      times += rendered.length
    }
    expect(times).toBe(3)
  })

  test('skips unchanged pages until the next heartbeat', async () => {
    const [cellar = ''] = await createCellars(1)
    await open(paths.liveReadings(cellar), await signIn())
    await tick()
    expect(rendered).toEqual([cellar])
    rendered = []
    await timers.advance(liveHeartbeatMs - 2 * livePushMs)
    expect(rendered).toEqual([])
    await timers.advance(livePushMs)
    expect(rendered).toEqual([cellar])
  })

  test('skips a browser that has no room', async () => {
    const abort = new AbortController()
    let renderings = 0
    const body = service.live.open({
      page: {
        name: 'large',
        topic: 'all',
        questionsMs: () => 0,
        listsEvents: false,
        render: async () => {
          renderings += 1
          return `${renderings}${'x'.repeat(300 * 1024)}`
        },
      },
      viewer: { sessionSecret: 's', operatorStream: 'operator-s', isAllowed: () => true },
      signal: abort.signal,
      isPacked: false,
    })
    if (typeof body === 'string') throw new Error(body)
    for (let beats = 0; beats < 3; beats += 1) await timers.advance(liveHeartbeatMs)
    expect(renderings).toBe(1)
    const reader = body.getReader()
    await reader.read()
    await reader.read()
    await timers.advance(livePushMs)
    expect(renderings).toBe(2)
    abort.abort()
  })
})
