import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readingsStream } from '../../../../src/domain/stream-names.ts'
import { liveHeartbeatMs, livePushMs } from '../../../../src/http/dashboard/live/live-push.ts'
import { cellarsPerPageMax } from '../../../../src/http/dashboard/show/cellar-views.ts'
import { sessionMsMax } from '../../../../src/limits.ts'
import { paths } from '../../../../views/paths.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { faultyLog } from '../../../support/logs/faulty-log.ts'
import { lateLog } from '../../../support/logs/late-log.ts'
import { passingLog } from '../../../support/logs/passing-log.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, startService, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let schedule: DrivenSchedule
let admin: Visitor
let open: Watching[] = []

beforeEach(async () => {
  schedule = drivenSchedule()
  service = await startWithOperators({ liveSchedule: schedule })
  admin = await signedIn(service, 'admin')
})
afterEach(async () => {
  for (const watching of open) watching.leave()
  open = []
  await service.stop()
})

type Watching = {
  readonly response: Response
  text(): string
  until(what: RegExp): Promise<string>
  readonly ended: Promise<void>
  leave(): void
}

const watch = async (path: string, person = admin, url = service.url, headers = {}): Promise<Watching> => {
  const abort = new AbortController()
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${url}${path}`, { headers: { ...headers, Cookie: cookie }, signal: abort.signal })
  let text = ''
  let wake = (): void => {}
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true })
        wake()
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error
    }
  }
  const watching: Watching = {
    response,
    text: () => text,
    until: async (what) => {
      while (!what.test(text)) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return text
    },
    ended: read(),
    leave: () => abort.abort(),
  }
  open.push(watching)
  return watching
}

const postFolded = async (reading: unknown, { key, keyId }: { readonly key: string; readonly keyId: string }) => {
  const before = service.core.projections.readings.usage(keyId)?.accepted ?? 0
  await service.post(reading, key)
  await service.untilFolded(keyId, before + 1)
}

/**
 * Lets pages push until `isSo` is true. One push may be too early: the projections may fold an event only after the request
 * that wrote it has its answer.
 */
const pushedUntil = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await schedule.advance(livePushMs)
}

const messages = (text: string): number => text.match(/^data: /gm)?.length ?? 0
const pushes = (text: string): number => text.split('\n\n').filter((part) => part.startsWith('data:')).length

describe('a live page', () => {
  test('starts at once, and sends what changed since the page', async () => {
    await postFolded(validReading, await service.createKey())
    const watching = await watch(paths.liveReadings(testCellar))
    expect([watching.response.status, watching.response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(watching.response.headers.get('cache-control')).toBe('no-store')
    await watching.until(/event: pace/)
    await schedule.advance(livePushMs)
    expect(await watching.until(/rack-17/)).toContain('id="cellar-readings"')
  })

  test('comes packed to a browser that takes gzip, readable message by message', async () => {
    const key = await service.createKey()
    const plain = await watch(paths.liveReadings(testCellar))
    const packed = await watch(paths.liveReadings(testCellar), admin, service.url, { 'Sec-Fetch-Site': 'same-origin' })
    for (const rack of ['first', 'second', 'third']) {
      await postFolded({ ...validReading, rack: `${rack}-rack` }, key)
      for (const { text } of [plain, packed]) await pushedUntil(() => text().includes(`${rack}-rack`))
    }
    service.live.close()
    await Promise.all([plain.ended, packed.ended])
    expect(packed.text()).toBe(plain.text())
  })

  test('shows a new event of the log, whatever it is about', async () => {
    const watching = await watch(paths.liveLog())
    await service.createKey({ label: 'Press, south' })
    await pushedUntil(() => watching.text().includes('Press, south'))
    expect(await watching.until(/created the key/)).toContain('id="log-list"')
  })

  test('shows a new reading as the page would', async () => {
    const key = await service.createKey()
    const watching = await watch(paths.liveReadings(testCellar))
    await schedule.advance(livePushMs)
    await watching.until(/No readings yet/)
    await postFolded(validReading, key)
    await schedule.advance(livePushMs)
    await watching.until(/rack-17/)
    const [fragment = ''] =
      /<div id="cellar-readings"[^>]*>[\s\S]*<\/div>/.exec((await admin.get(paths.cellar(testCellar))).body) ?? []
    expect(fragment).toContain('rack-17')
    const last =
      watching
        .text()
        .split('\n\n')
        .findLast((part) => part.startsWith('data:')) ?? ''
    expect(fragment).toContain(last.slice('data: '.length))
  })

  test('is pushed once for many changes', async () => {
    const key = await service.createKey()
    const watching = await watch(paths.liveReadings(testCellar))
    await schedule.advance(livePushMs)
    await watching.until(/No readings yet/)
    for (let reading = 0; reading < 30; reading += 1) {
      await postFolded({ ...validReading, keg: `keg-${reading}` }, key)
    }
    expect(pushes(watching.text())).toBe(1)
    await schedule.advance(livePushMs)
    await watching.until(/keg-29/)
    expect(pushes(watching.text())).toBe(2)
  })

  test('is not pushed for changes in another cellar', async () => {
    await service.createKey()
    const other = await service.createKey({ cellar: 'elsewhere' })
    const watching = await watch(paths.liveReadings(testCellar))
    await schedule.advance(livePushMs)
    await watching.until(/No readings yet/)
    await postFolded({ ...validReading, cellar: 'elsewhere' }, other)
    await schedule.advance(livePushMs * 2)
    await watch(paths.liveCellars()).then((one) => one.until(/event: pace/))
    expect(pushes(watching.text())).toBe(1)
  })

  test('shows the first reading in place of waiting for it', async () => {
    const key = await service.createKey()
    const watching = await watch(paths.liveFirstReading(key.keyId))
    await schedule.advance(livePushMs * 3)
    await watching.until(/event: pace/)
    expect(messages(watching.text())).toBe(0)
    for (const value of [17.25, 18.5, 19.75]) await postFolded({ ...validReading, value }, key)
    await schedule.advance(livePushMs)
    const come = await watching.until(/first-reading come/)
    expect(come).toContain('17.25')
    expect(come).not.toContain('19.75')
  })

  test('shows a key’s new state, and moves it to another tab', async () => {
    const { keyId } = await service.createKey({ label: 'Pump' })
    const facts = await watch(paths.liveKey(keyId))
    const list = await watch(paths.liveKeys(testCellar))
    await schedule.advance(livePushMs)
    await facts.until(/pill active/)
    await list.until(/Pump/)
    await admin.get(paths.revokeKey(keyId))
    await admin.post(paths.revokeKey(keyId), { reason: '' })
    await pushedUntil(() => /pill revoked/.test(facts.text()) && /no active keys/.test(list.text()))
  })

  test('shows who changed a key, and offers only what is still possible', async () => {
    const { keyId } = await service.createKey({ label: 'Pump' })
    const auditor = await signedIn(service, 'auditor')
    const [ours, theirs] = [await watch(paths.liveKey(keyId)), await watch(paths.liveKey(keyId), auditor)]
    await schedule.advance(livePushMs)
    expect(await ours.until(/KeyCreated/)).toContain(paths.revokeKey(keyId))
    expect(await theirs.until(/KeyCreated/)).not.toContain(paths.revokeKey(keyId))
    const before = ours.text().length
    await service.core.keys.relabel(keyId, { label: 'Pump, north', note: '' }, testAsker)
    await service.core.keys.revoke(keyId, 'stolen', testAsker)
    await pushedUntil(() => /KeyRevoked/.test(ours.text()))
    const pushed = ours.text().slice(before)
    for (const words of ['Pump, north', 'ReadingsSealed', 'stolen']) expect(pushed).toContain(words)
    expect(pushed.slice(pushed.lastIndexOf('id="key-now"'))).not.toContain(paths.editKey(keyId))
    expect(pushed.slice(pushed.lastIndexOf('id="key-now"'))).not.toContain(paths.revokeKey(keyId))
  })

  test('reads a key’s history again only when it has grown', async () => {
    const log = await openFreshLog()
    let reads = 0
    const read = (...args: Parameters<typeof log.read>) => {
      if (args[0].startsWith('key-')) reads += 1
      return log.read(...args)
    }
    const counted = await startWithOperators({ log: { ...passingLog(log), read }, liveSchedule: schedule })
    const person = await signedIn(counted, 'admin')
    const { key, keyId } = await counted.createKey()
    const watching = await watch(paths.liveKey(keyId, 1, true), person, counted.url)
    await pushedUntil(() => /KeyCreated/.test(watching.text()))
    await counted.post(validReading, key)
    await counted.untilFolded(keyId, 1)
    const before = reads
    for (let reading = 2; reading < 5; reading += 1) {
      await counted.post(validReading, key)
      await counted.untilFolded(keyId, reading)
      const pushed = pushes(watching.text())
      await pushedUntil(() => pushes(watching.text()) > pushed)
    }
    expect(reads).toBe(before)
    await counted.core.keys.relabel(keyId, { label: 'Pump', note: '' }, testAsker)
    await until(() => counted.core.projections.keys.get(keyId)?.label === 'Pump')
    await pushedUntil(() => /KeyRelabelled/.test(watching.text()))
    // The fence of another node must be shown, although it does not change the key.
    await log.append(readingsStream(keyId), 3, [
      {
        id: crypto.randomUUID(),
        type: 'ReadingsFenced',
        recordedAt: counted.clock.now(),
        data: { keyRevision: 1 },
        metadata: { by: { kind: 'cli' }, requestId: 'test', correlationId: 'test', causationId: 'test' },
      },
    ])
    await until(() => counted.core.projections.readings.barriers(keyId).length === 1)
    await pushedUntil(() => /ReadingsFenced/.test(watching.text()))
    watching.leave()
    await counted.stop()
    await log.close()
  })

  test('gets a heartbeat when nothing happens', async () => {
    const { keyId } = await service.createKey()
    const watching = await watch(paths.liveFirstReading(keyId))
    await schedule.advance(liveHeartbeatMs)
    await watching.until(/: still here/)
    await schedule.advance(liveHeartbeatMs)
    await watching.until(/(: still here\n\n){2}/)
  })

  test('shows changes by time with the next heartbeat', async () => {
    const { keyId } = await service.createKey({ expiresAt: service.clock.now() + 60_000 })
    const watching = await watch(paths.liveKey(keyId))
    await schedule.advance(livePushMs)
    await watching.until(/pill active/)
    service.clock.advance(60_000)
    await schedule.advance(liveHeartbeatMs)
    await watching.until(/pill expired/)
  })

  test('shows an auditor no actions of admins', async () => {
    await service.createKey()
    const auditor = await signedIn(service, 'auditor')
    const [ours, theirs] = [await watch(paths.liveKeys(testCellar)), await watch(paths.liveKeys(testCellar), auditor)]
    await schedule.advance(livePushMs)
    expect(await ours.until(/Key 1/)).toContain('/revoke')
    expect(await theirs.until(/Key 1/)).not.toContain('/revoke')
  })
})

test('a live list of cellars pushes one page alone', async () => {
  const create = (cellar: string) => service.core.cellars.create({ cellar, title: '' }, testAsker)
  const before = service.core.projections.cellars.list().length
  for (let cellar = before; cellar <= cellarsPerPageMax; cellar += 1) await create(`c-${cellar}`)
  const watching = await watch(paths.liveCellars(2))
  await create('zz-on-the-second-page')
  await schedule.advance(livePushMs)
  const pushed = await watching.until(/zz-on-the-second-page/)
  expect(pushed.slice(pushed.lastIndexOf('id="cellar-list"')).match(/class="row-name"/g)).toHaveLength(2)
})

describe('a live stream', () => {
  test('ends at once at sign-out, and tells the page to stop', async () => {
    const watching = await watch(paths.liveCellars())
    await schedule.advance(livePushMs)
    await admin.get('/cellars')
    await admin.post('/sign-out', {})
    await watching.ended
    expect(watching.text()).toEndWith('event: end\ndata:\n\n')
    expect(service.live.streams).toBe(0)
  })

  test('ends at once when its operator changes role or is removed', async () => {
    const otto = await signedIn(service, 'auditor')
    const changes = [
      () => service.core.operators.setRole(emailOf.auditor, 'admin', testAsker),
      () => service.core.operators.remove(emailOf.auditor, testAsker),
    ]
    for (const change of changes) {
      const watching = await watch('/live/cellars', otto)
      await watching.until(/event: pace/)
      expect(await change()).toMatchObject({ ok: true })
      await watching.ended
      expect(watching.text()).toEndWith('event: end\ndata:\n\n')
    }
  })

  test('ends when the session expires, without another push', async () => {
    const { key } = await service.createKey()
    const watching = await watch(paths.liveReadings(testCellar))
    await schedule.advance(livePushMs)
    await watching.until(/No readings yet/)
    service.clock.advance(sessionMsMax)
    await service.post(validReading, key)
    await pushedUntil(() => /event: end/.test(watching.text()))
    await watching.ended
    expect(watching.text()).toEndWith('event: end\ndata:\n\n')
    expect(watching.text()).not.toContain('rack-17')
  })

  test('is refused for good to an ended session', async () => {
    const [signedOut, replaced, expired] = [
      await signedIn(service, 'admin'),
      await signedIn(service, 'auditor'),
      await signedIn(service, 'admin'),
    ]
    const cookies = new Map(signedOut.cookies)
    await signedOut.post('/sign-out', {})
    const link = await service.core.operators.issueLink({ email: emailOf.auditor, role: 'auditor' }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    const spent = { secret: link.value.secret, email: emailOf.auditor, password: 'another that is long' }
    const known = () => service.core.projections.operators.link(Bun.SHA256.hash(spent.secret, 'hex'), 0) !== null
    await until(known)
    expect(await service.core.operators.spendLink(spent, testAsker)).toMatchObject({ ok: true })
    await until(() => !known())
    service.clock.advance(sessionMsMax)
    for (const person of [{ ...signedOut, cookies }, replaced, expired, { ...admin, cookies: new Map() }]) {
      const answer = await watch(paths.liveCellars(), person)
      await answer.ended
      expect([answer.response.status, answer.text()]).toEqual([200, 'event: end\ndata:\n\n'])
    }
  })

  test('is retried until this node knows the session, key or cellar', async () => {
    const log = await openFreshLog()
    const here = await startWithOperators({ log })
    const late = lateLog(log)
    const there = await startService({ log: late, clock: here.clock, liveSchedule: schedule })
    const asked = async (path: string, person: Visitor): Promise<readonly [number, string | null]> => {
      const { response, leave } = await watch(path, person, there.url)
      leave()
      return [response.status, response.headers.get('retry-after')]
    }
    const again = [503, '1'] as const
    const person = await signedIn(here, 'admin')
    expect(await asked(paths.liveCellars(), person)).toEqual(again)
    const heard = async (path: string): Promise<void> => {
      late.deliver()
      while ((await asked(path, person))[0] !== 200) late.deliver()
    }
    await heard(paths.liveCellars())
    const { keyId } = await here.createKey()
    const unheard = [paths.liveKey(keyId), paths.liveFirstReading(keyId), paths.liveReadings(testCellar)]
    for (const path of [...unheard, paths.liveKeys(testCellar)]) expect(await asked(path, person)).toEqual(again)
    for (const path of unheard) await heard(path)
    await there.stop()
    await here.stop()
    await log.close()
  })

  test('is forgotten when the browser goes away', async () => {
    const watching = await watch(paths.liveCellars())
    expect(service.live.streams).toBe(1)
    watching.leave()
    await until(() => service.live.streams === 0)
  })

  test('does not delay a stopping server', async () => {
    const watching = [await watch(paths.liveCellars()), await watch(paths.liveCellars())]
    service.live.close()
    await Promise.all(watching.map(({ ended }) => ended))
    expect(service.live.streams).toBe(0)
    for (const { text } of watching) expect(text()).not.toContain('event: end')
    expect((await watch(paths.liveCellars())).response.status).toBe(503)
  })

  test('is not opened by a HEAD', async () => {
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${service.url}${paths.liveCellars()}`, { method: 'HEAD', headers: { Cookie: cookie } })
    expect([answer.status, service.live.streams]).toEqual([200, 0])
  })

  test('causes no read of the log, for any number of viewers', async () => {
    const inner = await openFreshLog()
    let subscriptions = 0
    const subscribe = (...args: Parameters<typeof inner.subscribe>) => {
      subscriptions += 1
      return inner.subscribe(...args)
    }
    const counted = await startWithOperators({ log: { ...passingLog(inner), subscribe }, liveSchedule: schedule })
    const person = await signedIn(counted, 'admin')
    const before = subscriptions
    const watching = [paths.liveCellars(), paths.liveReadings(testCellar)].map((path) =>
      watch(path, person, counted.url),
    )
    await Promise.all(watching)
    await schedule.advance(liveHeartbeatMs)
    expect(subscriptions).toBe(before)
    for (const one of watching) (await one).leave()
    await counted.stop()
    await inner.close()
  })

  test('shows late changes of the projections with the next push', async () => {
    const log = await openFreshLog()
    const late = lateLog(log)
    let isStarting = true
    const subscribe = (...args: Parameters<typeof log.subscribe>) => (isStarting ? late : log).subscribe(...args)
    const lagging = await startWithOperators({ log: { ...passingLog(log), subscribe }, liveSchedule: schedule })
    isStarting = false
    const person = await signedIn(lagging, 'admin')
    const { key, keyId } = await lagging.createKey()
    const watching = await watch(paths.liveReadings(testCellar), person, lagging.url)
    await schedule.advance(livePushMs)
    await watching.until(/No readings yet/)
    expect((await lagging.post(validReading, key)).status).toBe(200)
    await schedule.advance(livePushMs)
    await until(() => {
      late.deliver()
      return lagging.core.projections.readings.usage(keyId) !== null
    })
    await schedule.advance(livePushMs)
    await watching.until(/rack-17/)
    watching.leave()
    await lagging.stop()
    await log.close()
  })

  test('goes on after the log was away', async () => {
    const log = faultyLog(await openFreshLog())
    const timers = drivenSchedule()
    const shaken = await startWithOperators({ log, liveSchedule: timers })
    const person = await signedIn(shaken, 'admin')
    const { key, keyId } = await shaken.createKey()
    const watching = await watch(paths.liveReadings(testCellar), person, shaken.url)
    await timers.advance(livePushMs)
    await watching.until(/No readings yet/)
    log.goAway()
    await timers.advance(liveHeartbeatMs)
    log.comeBack()
    await timers.advance(liveHeartbeatMs)
    while ((await shaken.post(validReading, key)).status !== 200) await turn()
    // Pages show the projections, and the projections get this reading only when they have subscribed to the log again.
    await until(() => shaken.core.projections.readings.usage(keyId) !== null)
    // The model of readings tries the log again only after a pause.
    while (!watching.text().includes('rack-17')) {
      await timers.advance(livePushMs)
      await turn()
    }
    watching.leave()
    await shaken.stop()
    await log.close()
  })
})

test('the page Health is sent again with each heartbeat, because its figures change without events', async () => {
  const watching = await watch(paths.liveHealth)
  await pushedUntil(() => watching.text().includes('none in the last'))
  const { key, keyId } = await service.createKey()
  await postFolded(validReading, { key, keyId })
  await schedule.advance(liveHeartbeatMs + livePushMs)
  expect(await watching.until(/1 in the last/)).toContain('99 of 100 answered within')
})
