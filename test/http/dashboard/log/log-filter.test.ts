import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import { firstPauseMs } from '../../../../src/domain/refusals/waiting-refusals.ts'
import { refusalsStream } from '../../../../src/domain/stream-names.ts'
import { heartbeatMs, refusalSummaryMsMax } from '../../../../src/limits.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testCellar, validReading } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { withAsk } from '../log-world.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let auditor: Visitor
let keyId: string
let key: string
let requestId: string
/** When a search writes the waiting summary. */
let writes: 'before' | 'after' | 'never' = 'never'
const clock = manualClock()
const schedule = drivenSchedule()
const beginMs = clock.now()
const at = (seconds: number): string => new Date(beginMs + seconds * 1_000).toISOString()

beforeAll(async () => {
  const wrapCore = (core: Core): Core => {
    const served = withAsk()(core)
    const ask: Core['questions']['ask'] = async (name, ...question) => {
      if (name === 'findEvents' && writes === 'before') await write()
      const answered = await served.questions.ask(name, ...question)
      if (name === 'findEvents' && writes === 'after') await write()
      return answered
    }
    return { ...served, questions: { ...served.questions, ask } }
  }
  service = await startWithOperators({ clock, schedule, wrapCore })
  auditor = await signedIn(service, 'auditor')
  const created = await service.createKey({ label: 'Press, south' })
  keyId = created.keyId
  key = created.key
  expect((await service.post({ ...validReading, rack: 'Hall 7, left' }, key)).status).toBe(200)
  clock.advance(60_000)
  requestId = await refuse()
})
afterAll(async () => {
  let isStopped = false
  const stopped = service.stop().then(() => {
    isStopped = true
  })
  while (!isStopped) await schedule.advance(heartbeatMs)
  await stopped
})

/** Returns the id of the request. */
const refuse = async (): Promise<string> => {
  const refused = await service.post({ ...validReading, value: 'much' }, key)
  expect(refused.status).toBe(400)
  return refused.headers.get('x-request-id') ?? ''
}

const summaries = async (): Promise<number> => (await service.log.read(refusalsStream(keyId), { limit: 100 })).length

const write = async (): Promise<void> => {
  const before = await summaries()
  clock.advance(refusalSummaryMsMax)
  while ((await summaries()) === before) await schedule.advance(heartbeatMs)
}

const listed = async (query: Parameters<typeof paths.log>[0]) => (await auditor.get(paths.log(query))).body

describe('what this node has refused', () => {
  const wholes = [{}, { key: '' }, { kind: 'refusals' }, { cellar: testCellar }] as const

  test('is in the list before it is in the log', async () => {
    for (const query of wholes) {
      const body = await listed({ ...query, ...('key' in query && { key: keyId }) })
      expect(body).toContain('<tr id="unwritten-refusals-')
      expect(body).toContain('not yet')
    }
    expect(await listed({ kind: 'keys' })).not.toContain('unwritten')
    expect(await listed({ from: at(61) })).not.toContain('unwritten')
    expect((await auditor.get(paths.key(keyId))).body).toContain(paths.refusedRequest(requestId))
  })

  test('is explained before it is in the log', async () => {
    const { body } = await auditor.get(paths.refusedRequest(requestId))
    expect(body).toContain('400 INVALID_TYPE')
    expect(body).toContain('The summary is not in the log yet.')
  })

  test('is found at the time when it was refused, not when it was written', async () => {
    clock.advance(firstPauseMs)
    while ((await service.log.read(refusalsStream(keyId), { limit: 1 })).length === 0)
      await schedule.advance(heartbeatMs)
    await schedule.advance(heartbeatMs)
    const isListed = async (from: number, to: number): Promise<boolean> =>
      (await listed({ kind: 'refusals', from: at(from), to: at(to) })).includes('<tr id="event-')
    expect([await isListed(59, 61), await isListed(65, 90)]).toEqual([true, false])
    expect(await listed({})).not.toContain('unwritten')
  })

  test('is shown once if it is written meanwhile', async () => {
    writes = 'before'
    const requestIds = [await refuse()]
    const list = await listed({ kind: 'refusals' })
    requestIds.push(await refuse())
    const ofKey = (await auditor.get(paths.key(keyId))).body
    writes = 'after'
    requestIds.push(await refuse())
    const page = await auditor.get(paths.refusedRequest(requestIds[2] ?? ''))
    writes = 'never'
    const links = [list, ofKey].map((body, at) => body.split(paths.refusedRequest(requestIds[at] ?? '')).length - 1)
    expect([links, page.body.includes('400 INVALID_TYPE')]).toEqual([[1, 1], true])
  })
})
