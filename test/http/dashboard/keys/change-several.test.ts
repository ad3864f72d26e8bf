import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import { refused } from '../../../../src/domain/refusal.ts'
import { paths } from '../../../../views/paths.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { faultyLog } from '../../../support/logs/faulty-log.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { until } from '../../../support/time/until.ts'
import { fieldsOfForm } from '../forms/form-fields.ts'
import { type Seen, signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let admin: Visitor
let keys: { readonly key: string; readonly keyId: string }[]
afterEach(() => service.stop())

const opened = async (count: number, options: Parameters<typeof startWithOperators>[0] = {}) => {
  service = await startWithOperators(options)
  admin = await signedIn(service, 'admin')
  keys = []
  for (let made = 1; made <= count; made += 1) keys.push(await service.createKey({ label: `Press ${made}` }))
}

const textIn = ({ body }: Seen): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const hidden = ({ body }: Seen) =>
  Object.fromEntries(
    [...body.matchAll(/type="hidden" name="(_form|_confirmed|_again)" value="([^"]*)"/g)].map((found) => [
      found[1],
      found[2] ?? '',
    ]),
  )
const named = (change: string, keyIds: readonly string[]) =>
  `${paths.changeKeys}?do=${change}&${keyIds.map((keyId) => `key=${keyId}`).join('&')}`
const found = (change: string, filter = '') => `${paths.changeKeys}?do=${change}&all=on${filter}`
const confirm = async (address: string, fields: Readonly<Record<string, string>> = {}) => {
  const page = await admin.get(address)
  return admin.post(address, { ...hidden(page), ...fields })
}
const stateOf = (keyId: string) => service.core.projections.keys.get(keyId)
const ids = () => keys.map(({ keyId }) => keyId)
/** Answers when the change has ended. */
const endOf = async (answer: Seen): Promise<Seen> => {
  for (;;) {
    const page = await admin.get(answer.location ?? '')
    if (!page.body.includes('<progress')) return page
  }
}
const requestIdIn = ({ location }: Seen): string => location?.split('/').at(-1) ?? ''
const eventsOf = async (requestId: string) =>
  (await service.log.readAll({ limit: 1_000 })).filter(({ metadata }) => metadata.requestId === requestId)

describe('the confirmation of a change of several keys', () => {
  test('names ten keys, those used last first, and counts those in use', async () => {
    await opened(14)
    for (const place of [7, 3]) {
      service.clock.advance(60_000)
      expect(
        (await service.post({ ...validReading, timestamp: '2026-03-01T12:01:00Z' }, keys[place]?.key ?? '')).status,
      ).toBe(200)
    }
    await until(() => service.core.projections.readings.usage(keys[3]?.keyId ?? '') !== null)
    const page = textIn(await admin.get(found('suspend')))
    expect(page).toContain('Suspend 14 keys of wine-berlin ?')
    expect(page).toContain('2 of these keys were used in the last hour. Devices that use them will be refused.')
    expect(page).toMatch(/Press 4 clr_\w+_… used just now Press 8 clr_\w+_… used 60 seconds ago/)
    expect(page.match(/Press \d+ clr_/g)).toHaveLength(10)
    expect(page).toContain('and 4 more keys')
    service.clock.advance(3_600_000)
    expect(textIn(await admin.get(found('suspend')))).toContain('None of these keys was used in the last hour.')
  })

  test('says which chosen keys stay as they are, and offers no form if all do', async () => {
    await opened(3)
    const [first = '', second = ''] = ids()
    await service.core.keys.revoke(first, '', testAsker)
    await service.core.keys.suspend(second, '', testAsker)
    const page = textIn(await admin.get(named('suspend', ids())))
    expect(page).toContain('Suspend 1 key of wine-berlin ?')
    expect(page).toContain('Besides, 2 chosen keys stay as they are: 1 already revoked, 1 already suspended.')
    const none = await admin.get(named('revoke', [first]))
    expect(textIn(none)).toContain('Nothing to revoke')
    expect(none.body).not.toContain('action="/keys/change')
  })

  test('is refused for all found keys while counts that the filter needs are missing', async () => {
    await opened(2)
    const { questions } = service.core
    const ask = questions.ask.bind(questions)
    using _ask = spyOn(questions, 'ask').mockImplementation((name, ...rest) =>
      name === 'keyLoads' ? Promise.resolve({ kind: 'not_ready' }) : ask(name, ...rest),
    )
    for (const filter of ['near=limit', 'refused=today']) {
      const address = found('revoke', `&${filter}`)
      for (const ask of [() => admin.get(address), () => admin.post(address, {})]) {
        const { location } = await ask()
        expect(location).toBe(`${paths.allKeys()}?${filter}`)
        expect((await admin.get(location ?? '')).body).toContain('so this list can lack keys.')
      }
    }
    expect((await admin.get(found('revoke'))).status).toBe(200)
  })

  test('leaves expired keys as they are, unless they were named or their status chosen', async () => {
    await opened(3)
    const [first = '', second = ''] = ids()
    for (const keyId of [first, second]) await service.core.keys.setExpiry(keyId, service.clock.now(), testAsker)
    const expiries = () => ids().map((keyId) => stateOf(keyId)?.expiresAt)
    const [ended] = expiries()
    const all = found('expiry', '&status=all')
    expect(textIn(await admin.get(all))).toContain('Besides, 2 chosen keys stay as they are: expired.')
    expect(textIn(await admin.get(named('expiry', ids())))).toContain(
      '2 of these keys have expired. With a later expiry, they work again.',
    )
    await endOf(await confirm(all, { expires: '7d' }))
    expect(expiries()).toEqual([ended, ended, expect.any(Number)])
    await endOf(await confirm(named('expiry', [first]), { expires: 'never' }))
    expect(expiries().slice(0, 2)).toEqual([null, ended])
    await endOf(await confirm(found('expiry', '&status=expired'), { expires: 'never' }))
    expect(expiries().slice(0, 2)).toEqual([null, null])
  })

  test('is shown again if a named key cannot be changed any more', async () => {
    await opened(2)
    const [first = ''] = ids()
    const page = await admin.get(named('suspend', ids()))
    await service.core.keys.revoke(first, '', testAsker)
    const answer = await admin.post(named('suspend', ids()), hidden(page))
    expect(answer.status).toBe(409)
    expect(textIn(answer)).toContain('1 key is no longer in it. Now it has 1 key.')
  })

  test('leads back to the list if no key is chosen', async () => {
    await opened(1)
    const address = `${paths.changeKeys}?do=suspend&cellar=${testCellar}&find=press`
    expect((await admin.get(address)).location).toBe(paths.keys(testCellar, { words: ['press'] }))
    expect((await admin.get(`${paths.changeKeys}?do=sell&all=on`)).status).toBe(404)
  })

  test('asks for the number of keys before more than ten are revoked', async () => {
    await opened(11)
    const address = found('revoke')
    expect(textIn(await admin.get(address))).toContain('To confirm, type the number of keys: 11')
    for (const count of ['', '10', 'all']) {
      const answer = await confirm(address, { count })
      expect([answer.status, textIn(answer).includes('This is not the number of keys. Type 11.')]).toEqual([422, true])
    }
    expect(stateOf(ids()[0] ?? '')?.revoked).toBeNull()
    const ten = named('revoke', ids().slice(1))
    expect((await admin.get(ten)).body).not.toContain('name="count"')
    expect((await confirm(ten)).status).toBe(303)
    expect((await confirm(address)).status).toBe(303)
    expect(ids().filter((keyId) => stateOf(keyId)?.revoked === null)).toEqual([])
  })

  test('is shown again, and changes nothing, if the filter now finds other keys', async () => {
    await opened(3)
    const page = await admin.get(found('suspend', '&find=press'))
    await service.createKey({ label: 'Press, new' })
    await service.core.keys.suspend(ids()[0] ?? '', '', testAsker)
    await service.core.keys.suspend(ids()[1] ?? '', '', testAsker)
    const answer = await admin.post(found('suspend', '&find=press'), hidden(page))
    expect(answer.status).toBe(409)
    expect(textIn(answer)).toContain('1 key is new in it, and 2 keys are no longer in it. Now it has 2 keys.')
    expect(stateOf(ids()[2] ?? '')?.suspended).toBeNull()
    const again = await admin.post(found('suspend', '&find=press'), hidden(answer))
    expect(textIn(await endOf(again))).toContain('2 keys suspended')
  })

  test('is shown again only once: then it changes what was confirmed, and lists what came', async () => {
    await opened(12)
    const address = found('revoke', '&find=press')
    const page = await admin.get(address)
    await service.core.keys.revoke(ids()[0] ?? '', '', testAsker)
    const asked = await admin.post(address, hidden(page))
    expect(asked.status).toBe(409)
    const late = await service.createKey({ label: 'Press, late' })
    await service.core.keys.revoke(ids()[1] ?? '', '', testAsker)
    const answer = textIn(await endOf(await admin.post(address, { ...hidden(asked), count: '11' })))
    expect(answer).toContain('10 keys revoked')
    expect(answer).toContain('No longer in the list, so not changed: 1 key.')
    expect(answer).toMatch(/1 key was not tried They came to the list after you had confirmed it.*Press, late/)
    expect(stateOf(late.keyId)?.revoked).toBeNull()
  })

  test('is shown again with its reason if the session ended before it was sent', async () => {
    await opened(2)
    const address = found('suspend', '&find=press')
    const asked = await admin.get(address)
    await service.core.operators.endSessions(emailOf.admin, { allBut: null }, testAsker)
    const action = address.replaceAll('&', '&amp;')
    const late = await admin.post(address, { ...fieldsOfForm(asked.body, action), reason: 'audit' })
    expect(late.status).toBe(401)
    const signIn = { ...fieldsOfForm(late.body, paths.signIn), email: emailOf.admin, password: testPassword }
    const kept = await admin.post(paths.signIn, signIn)
    const again = await admin.post(address, fieldsOfForm(kept.body, action))
    expect(textIn(again)).toContain('Suspend 2 keys of wine-berlin ?')
    expect([again.status, fieldsOfForm(again.body, action)['reason']]).toEqual([200, 'audit'])
    expect(stateOf(ids()[0] ?? '')?.suspended).toBeNull()
    const sent = await admin.post(address, fieldsOfForm(again.body, action))
    expect(textIn(await endOf(sent))).toContain('2 keys suspended')
  })

  test('keeps a wrong expiry, limit or overlap in the form', async () => {
    await opened(2)
    const past = await confirm(found('expiry'), { expires: 'date', expires_on: '2020-01-01' })
    expect([past.status, past.body.includes('value="2020-01-01"')]).toEqual([422, true])
    expect((await confirm(found('limit'), { limit_readings: 'many' })).status).toBe(422)
    expect((await confirm(found('rotate'), { overlap: '3d' })).status).toBe(422)
    expect(textIn(await endOf(await confirm(found('expiry'), { expires: '7d' })))).toContain(
      '2 keys with the new expiry',
    )
    await confirm(found('limit'), { limit_readings: '7', limit_seconds: '10' })
    expect(stateOf(ids()[1] ?? '')).toMatchObject({ limit: { readings: 7, windowMs: 10_000 } })
  })
})

describe('a change of several keys', () => {
  test('lists a refused key with its reason, and changes the others', async () => {
    const wrapCore = (core: Core): Core => ({
      ...core,
      keys: {
        ...core.keys,
        suspend: async (keyId, ...rest) =>
          keyId === gone ? refused({ kind: 'key_is_revoked' }) : core.keys.suspend(keyId, ...rest),
      },
    })
    await opened(12, { wrapCore })
    const [gone = '', ...others] = ids()
    const answer = await confirm(named('suspend', ids()), { reason: 'audit' })
    const page = textIn(await endOf(answer))
    expect(page).toContain('11 of 12 keys suspended')
    expect(page).toContain('1 key was not changed')
    expect(page).toMatch(/Press 1 clr_\w+_… The key is revoked, which cannot be undone/)
    expect(others.map((keyId) => stateOf(keyId)?.suspended)).toEqual(
      others.map(() => expect.objectContaining({ reason: 'audit' })),
    )
    const events = await eventsOf(requestIdIn(answer))
    expect(events.filter(({ type }) => type === 'KeySuspended')).toHaveLength(11)
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  test('that fails in the log lists the keys that were not tried', async () => {
    const log = faultyLog(await openFreshLog())
    await opened(40, { log })
    log.failAppend({ fault: 'not_written', nth: 1 })
    const page = textIn(await endOf(await confirm(found('suspend'))))
    expect(page).toMatch(/\d+ keys were not tried The event log failed before these keys had their turn/)
    const suspended = ids().filter((keyId) => stateOf(keyId)?.suspended !== null)
    expect(page).toContain(`${suspended.length} of 40 keys suspended`)
    const rest = await confirm(found('suspend'))
    expect(textIn(await endOf(rest))).toContain(`${40 - suspended.length} keys suspended`)
    await service.stop()
    await log.close()
    service = await startWithOperators()
  })

  test('that meets a bug keeps each new key that was made', async () => {
    let calls = 0
    const wrapCore = (core: Core): Core => ({
      ...core,
      keys: {
        ...core.keys,
        rotate: async (...asked) => {
          calls += 1
          if (calls === 5) throw new Error('rotate() of the test fails')
          return await core.keys.rotate(...asked)
        },
      },
    })
    await opened(12, { wrapCore })
    const answer = await confirm(found('rotate'), { overlap: '24h' })
    const page = textIn(await endOf(answer))
    const rotated = ids().filter((keyId) => stateOf(keyId)?.rotation !== null).length
    expect([calls, rotated]).toEqual([rotated + 1, rotated])
    expect(page).toContain('Not confirmed yet: the event log has not said whether the change is saved.')
    const file = await admin.post(answer.location ?? '', { format: 'csv' })
    expect(file.body.match(/clr_/g)).toHaveLength(rotated)
  })

  test('ends with the session, and shows its operator which keys were not tried', async () => {
    let calls = 0
    const wrapCore = (core: Core): Core => ({
      ...core,
      keys: {
        ...core.keys,
        suspend: async (keyId, reason, asker) => {
          calls += 1
          if (calls === 5) await core.operators.endSessions(emailOf.admin, { allBut: null }, testAsker)
          return core.keys.suspend(keyId, reason, asker)
        },
      },
    })
    await opened(120, { wrapCore })
    const answer = await confirm(found('suspend'))
    await until(() => service.core.operators.openSessions(emailOf.admin).length === 0)
    expect((await admin.get(answer.location ?? '')).location).toStartWith('/sign-in?next=')
    admin = await signedIn(service, 'admin')
    const ended = await endOf(answer)
    const page = textIn(ended)
    const suspended = ids().filter((keyId) => stateOf(keyId)?.suspended !== null).length
    expect(suspended).toBeLessThan(20)
    expect(page).toContain(`${120 - suspended} keys were not tried Your session ended`)
    expect(page).toContain(`and ${120 - suspended - 100} more key`)
    await service.createKey({ label: 'Press, new' })
    const rest = /class="button" href="([^"]*)"/.exec(ended.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(textIn(await admin.get(rest))).toContain(`Suspend ${120 - suspended} keys of`)
  })

  test('that changes nothing tells its live page the end, too', async () => {
    const held = Promise.withResolvers<void>()
    const busy = async () => {
      await held.promise
      return refused({ kind: 'busy' } as const)
    }
    await opened(101, { wrapCore: (core) => ({ ...core, keys: { ...core.keys, suspend: busy } }) })
    const { location } = await confirm(found('suspend'))
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const live = await fetch(`${service.url}/live${location}`, { headers: { Cookie: cookie } })
    let shown = ''
    for await (const piece of live.body ?? []) {
      shown += new TextDecoder().decode(piece)
      if (shown.includes('0 of 101')) held.resolve()
      if (shown.includes('101 keys were not changed')) break
    }
    expect(shown).toContain('0 of 101 keys suspended')
  })

  test('is begun once, although its form is sent twice or another one is sent meanwhile', async () => {
    const log = faultyLog(await openFreshLog())
    await opened(120, { log })
    const page = await admin.get(found('suspend'))
    const held = log.hold('before')
    const first = await admin.post(found('suspend'), hidden(page))
    expect((await admin.get(first.location ?? '')).body).toContain('<meta http-equiv="refresh"')
    const other = await confirm(found('revoke'), { count: '120' })
    expect(other.location).toBe(first.location)
    held.release()
    await endOf(first)
    await admin.get('/account')
    expect((await admin.post(found('suspend'), hidden(page))).location).toBe(first.location)
    expect(ids().filter((keyId) => stateOf(keyId)?.revoked !== null)).toEqual([])
    await service.stop()
    await log.close()
    service = await startWithOperators()
  })

  test('is unknown to other operators, whom its page leads to the Log', async () => {
    await opened(2)
    const answer = await confirm(found('suspend'))
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    const other = await signedIn(service, 'auditor')
    const page = await other.get(answer.location ?? '')
    expect([page.status, page.body.includes(paths.found(requestIdIn(answer)))]).toEqual([404, true])
    expect(textIn(page)).toContain('Another operator began this change')
    expect((await other.get(paths.keysChange('x'))).status).toBe(404)
    const [event] = await eventsOf(requestIdIn(answer))
    await until(() => service.core.indexProgress()?.isBehind === false)
    expect((await other.get(paths.found(requestIdIn(answer)))).location).toBe(
      paths.event(event?.stream ?? '', event?.revision ?? -1),
    )
  })
})

test('the page of an event counts and lists all events of its request', async () => {
  await opened(40)
  const answer = await confirm(found('suspend'))
  await endOf(answer)
  await until(() => service.core.indexProgress()?.isBehind === false)
  const first = await admin.get(paths.found(requestIdIn(answer)))
  const page = await admin.get(first.location ?? '')
  expect(textIn(page)).toContain('The same request 79 other events')
  const [, href = ''] = /And 59 more\.<[^<]*<a href="([^"]*)"/.exec(page.body.replace(/\s+/g, ' ')) ?? []
  const list = await admin.get(href.replaceAll('&amp;', '&'))
  expect(textIn(list).match(/suspended Press \d+/g)?.length).toBeGreaterThan(20)
  expect(list.body).toContain(`value="${emailOf.admin}"`)
})

describe('a rotation of several keys', () => {
  test('hands out the new keys once, as CSV or JSON, and to its operator alone', async () => {
    await opened(3)
    const answer = await confirm(found('rotate'), { overlap: '24h' })
    const address = answer.location ?? ''
    const page = await endOf(answer)
    expect(textIn(page)).toContain('Download the 3 new keys now: you get the file only once')
    expect(page.body).not.toMatch(/clr_\w{8}_\w{40}/)
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    const other = await signedIn(service, 'auditor')
    expect((await other.post(address, { format: 'csv' })).body).toBe('')
    await admin.get(address)
    const file = await admin.post(address, { format: 'csv' })
    expect(file.headers.get('content-disposition')).toStartWith('attachment; filename="cellarbook-new-keys-')
    expect(file.headers.get('cache-control')).toBe('no-store')
    const [head, ...rows] = file.body.trimEnd().split('\r\n')
    expect(head).toBe('cellar,label,old_id,new_id,key')
    expect(rows).toHaveLength(3)
    for (const row of rows) {
      const [cellar, label, old = '', next = '', key = ''] = row.split(',')
      expect([cellar, label?.slice(0, 5), stateOf(next)?.predecessorId]).toEqual([testCellar, 'Press', old])
      expect((await service.post(validReading, key)).status).toBe(200)
    }
    const second = await admin.post(address, { format: 'json' })
    expect([second.status, second.location]).toEqual([303, address])
    expect(textIn(await admin.get(address))).toContain('The new keys were downloaded')
    const stored = JSON.stringify(await service.log.readAll({ limit: 1_000 }))
    for (const row of rows) expect(stored).not.toContain(row.split(',').at(-1)?.slice(13, -6) ?? '')
  })

  test('gives JSON, too', async () => {
    await opened(2)
    const answer = await confirm(found('rotate'), { overlap: '24h' })
    await endOf(answer)
    const file = await admin.post(answer.location ?? '', { format: 'json' })
    const rows: unknown = JSON.parse(file.body)
    expect(rows).toHaveLength(2)
    expect(rows).toMatchObject([
      { cellar: testCellar, label: expect.stringContaining('Press'), key: expect.any(String) },
      {},
    ])
  })
})
