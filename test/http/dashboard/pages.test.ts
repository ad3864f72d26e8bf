import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { linkMsMax } from '../../../src/actors/operator/operator-requests.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { keysThenPerPageMax } from '../../../src/http/dashboard/show/cellar-at-instant.ts'
import { cellarsPerPageMax } from '../../../src/http/dashboard/show/cellar-views.ts'
import { historyRowsPerPageMax } from '../../../src/http/dashboard/show/history-views.ts'
import { keysPerPageMax } from '../../../src/http/dashboard/show/key-list.ts'
import { paths } from '../../../views/paths.ts'
import { emailOf, testPassword } from '../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

let service: Service
let admin: Visitor
beforeEach(async () => {
  service = await startWithOperators()
  admin = await signedIn(service, 'admin')
})
afterEach(() => service.stop())

const dayMs = 86_400_000
const wholeKey = /clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g

const newKey = async (fields: Readonly<Record<string, string>> = {}) => {
  const page = await admin.get(`${paths.keys(testCellar)}/new`)
  const _key_id = /name="_key_id" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const blank = { label: '', note: '', expires: 'never', expires_on: '', limit_readings: '', limit_seconds: '' }
  const sent = { ...blank, _key_id, ...fields }
  return { sent, answer: await admin.post(paths.newKey(testCellar), sent) }
}

const onlyKey = () => {
  const [key, ...others] = service.core.projections.keys.ofCellar(testCellar)
  if (key === undefined || others.length > 0) throw new Error('there is not exactly one key')
  return key
}

/** How a page shows hidden characters. */
const shownNames: ReadonlyMap<string, string> = new Map([
  [
    '\u202e',
    '<span class="hidden-character" role="img" aria-label="hidden character U+202E" title="Hidden character">U+202E</span>',
  ],
])

const makeCellar = (cellar = testCellar) => service.core.cellars.create({ cellar, title: '' }, testAsker)

describe('cellars', () => {
  test('lead from the empty list to the first cellar and its keys', async () => {
    expect((await admin.get('/cellars')).body).toContain('No cellars yet')
    await admin.get('/cellars/new')
    const made = await admin.post('/cellars', { cellar: testCellar, title: 'Wine, Berlin' })
    expect([made.status, made.location]).toEqual([303, paths.keys(testCellar)])
    const keys = await admin.get(paths.keys(testCellar))
    expect(keys.body).toContain('Cellar created.')
    expect(keys.body).toContain('Wine, Berlin')
    expect((await admin.get('/cellars')).body).toContain('Wine, Berlin')
  })

  test('record their creator and the request', async () => {
    await admin.get('/cellars/new')
    await admin.post('/cellars', { cellar: testCellar, title: '' })
    const created = (await service.log.readAll({ limit: 100 })).find(({ type }) => type === 'CellarCreated')
    const session = { id: expect.stringMatching(/^[0-9a-f]{16}$/), linkMadeBy: null }
    expect(created?.metadata.by).toEqual({ kind: 'operator', email: emailOf.admin, session })
    expect(created?.metadata.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('refuse a taken or invalid identifier at its field', async () => {
    await makeCellar()
    await admin.get('/cellars/new')
    const wrong = [
      [testCellar, 409],
      ['', 422],
      [' outer space', 422],
      ['x'.repeat(129), 422],
      ['line\nbreak', 422],
    ] as const
    for (const [cellar, status] of wrong) {
      const answer = await admin.post('/cellars', { cellar, title: 'typed title' })
      expect([cellar, answer.status]).toEqual([cellar, status])
      expect(answer.body).toContain('id="fault-cellar"')
      expect(answer.body).toContain('value="typed title"')
    }
    expect(service.core.projections.cellars.list()).toHaveLength(1)
  })

  test('lead from the address without a page to the readings', async () => {
    await makeCellar()
    expect((await admin.get(`/cellars/${testCellar}`)).location).toBe(paths.cellar(testCellar))
    expect((await admin.get('/cellars/unknown')).status).toBe(404)
  })

  test('stand still while they are paused, and lead back', async () => {
    await makeCellar()
    const [live, paused] = [paths.cellar(testCellar, 'a'), paths.cellar(testCellar, 'a', 1, { isPaused: true })]
    const [moving, still] = [(await admin.get(live)).body, (await admin.get(paused)).body]
    expect([moving.includes('hx-sse:connect'), still.includes('hx-sse:connect')]).toEqual([true, false])
    expect([moving.includes(`href="${paused.replace('&', '&amp;')}"`), still.includes(`href="${live}"`)]).toEqual([
      true,
      true,
    ])
  })

  test('open under any name that a device can send', async () => {
    for (const cellar of [
      '..',
      '.',
      '~',
      '~..',
      'a/b',
      '../../etc',
      '%2e%2e',
      '%',
      '?x=1#y',
      '\\',
      'a b',
      'é',
      '🍷',
      "'; rm -rf ~ #",
      'new',
      '\u202e',
    ]) {
      await admin.get('/cellars/new')
      const made = await admin.post('/cellars', { cellar, title: '' })
      expect([cellar, made.status]).toEqual([cellar, 303])
      // A browser resolves an address such as `/cellars/..` before it sends it, as `URL` does here.
      for (const path of [made.location ?? '', paths.cellar(cellar), paths.settings(cellar)]) {
        const { pathname } = new URL(path, service.url)
        const opened = await admin.get(pathname)
        expect([cellar, opened.status]).toEqual([cellar, 200])
        expect(opened.body).toContain(`<code><bdi>${shownNames.get(cellar) ?? Bun.escapeHTML(cellar)}</bdi></code>`)
      }
    }
  })

  test('answer 404 to an unknown name or a bad encoding', async () => {
    for (const path of [
      '/cellars/none/readings',
      '/cellars/none/keys',
      '/cellars/%ZZ/keys',
      '/keys/none',
      '/keys/%FF',
      '/cellars/none',
    ]) {
      const answer = await admin.get(path)
      expect([path, answer.status]).toEqual([path, 404])
    }
  })

  test('show readings with the label of their key', async () => {
    const { key, keyId } = await service.createKey({ label: 'Fermenter 3' })
    await service.post(validReading, key)
    await service.untilFolded(keyId, 1)
    const { body } = await admin.get(paths.cellar(testCellar))
    expect(body).toContain('21.5')
    expect(body).toContain('<th scope="col">Rack and keg</th>')
    expect(body).toMatch(/<th scope="row"><bdi[^>]*>rack-17<\/bdi><a [^>]*><bdi[^>]*>temperature<\/bdi><\/a><\/th>/)
    expect(body).toContain('Fermenter 3')
  })

  test('show racks and cellars by the numbers in their names', async () => {
    const titles = ['Order 9', 'order 10', 'Order 11', 'Other', 'Örtlich', 'Pinot']
    for (const [index, title] of titles.toReversed().entries()) {
      await service.core.cellars.create({ cellar: `order-${index}`, title }, testAsker)
    }
    const { key, keyId } = await service.createKey({ cellar: 'order-0' })
    const racks = ['order 9', 'order 10', 'order 11', 'other']
    for (const rack of racks.toReversed()) await service.post({ ...validReading, cellar: 'order-0', rack }, key)
    await service.untilFolded(keyId, racks.length)
    expect(inOrder((await admin.get(paths.cellars)).body, titles)).toEqual(titles)
    expect((await admin.get(paths.cellar('order-0', 'order'))).body).not.toContain('>other<')
    expect(inOrder((await admin.get(paths.cellar('order-0'))).body, racks)).toEqual(racks)
  })
})

/** The texts as the page shows them, in the order of their first appearance. */
const inOrder = (body: string, texts: readonly string[]): readonly string[] =>
  texts.toSorted((a, b) => body.indexOf(`>${a}</bdi>`) - body.indexOf(`>${b}</bdi>`))

describe('settings', () => {
  test('change the title and the bounds, and say so once', async () => {
    await makeCellar()
    await admin.get(paths.settings(testCellar))
    await admin.post(paths.rename(testCellar), { title: 'New title' })
    expect((await admin.get(paths.settings(testCellar))).body).toContain('Title saved.')
    const policy = { limit_readings: '10', limit_seconds: '5', age_max: '30d', ahead_max: '10m' }
    expect((await admin.post(paths.policy(testCellar), policy)).status).toBe(303)
    expect(service.core.projections.cellars.get(testCellar)).toMatchObject({
      title: 'New title',
      policy: {
        limit: { readings: 10, windowMs: 5_000 },
        readingAgeMsMax: 30 * dayMs,
        readingAheadMsMax: 600_000,
        retentionMs: null,
      },
    })
    const shown = await admin.get(paths.settings(testCellar))
    for (const value of ['10', '5', '30d', '10m']) expect(shown.body).toContain(`value="${value}"`)
  })

  test('sent as shown change nothing, whatever the unit', async () => {
    await makeCellar()
    for (const typed of ['1s', '90s', '60s', '1m', '60m', '90m', '1h', '24h', '25h', '1d', '2d', '400d']) {
      await admin.get(paths.settings(testCellar))
      await admin.post(paths.policy(testCellar), {
        limit_readings: '',
        limit_seconds: '',
        age_max: typed,
        ahead_max: '',
      })
      const before = service.core.projections.cellars.get(testCellar)?.policy.readingAgeMsMax
      const { body } = await admin.get(paths.settings(testCellar))
      const age_max = /name="age_max"[^>]*value="([^"]*)"/.exec(body)?.[1] ?? ''
      const again = { limit_readings: '', limit_seconds: '', age_max, ahead_max: '' }
      expect([typed, age_max, (await admin.post(paths.policy(testCellar), again)).status]).toEqual([
        typed,
        age_max,
        303,
      ])
      expect(service.core.projections.cellars.get(testCellar)?.policy.readingAgeMsMax).toBe(before ?? 0)
    }
  })

  test('change the retention after a page that says what is deleted', async () => {
    await makeCellar()
    const policyNow = () => service.core.projections.cellars.get(testCellar)?.policy
    await admin.post(paths.policy(testCellar), { limit_readings: '10', limit_seconds: '5', age_max: '', ahead_max: '' })
    const asked = await admin.get(`${paths.retention(testCellar)}?days=365`)
    expect(asked.status).toBe(200)
    for (const said of ['Keep readings for 365 days?', 'deleted permanently', 'cannot be undone'])
      expect(asked.body).toContain(said)
    expect(asked.body).toContain(`<li><a href="${paths.settings(testCellar)}">Settings</a></li></ol>`)
    expect(policyNow()?.retentionMs).toBeNull()

    expect((await admin.post(paths.retention(testCellar), { days: '365' })).location).toBe(paths.settings(testCellar))
    expect(policyNow()).toMatchObject({ limit: { readings: 10, windowMs: 5_000 }, retentionMs: 365 * dayMs })
    const shown = (await admin.get(paths.settings(testCellar))).body
    for (const said of ['Retention saved.', 'for 365 days', 'value="365"']) expect(shown).toContain(said)
    // A change of other settings must not change the retention.
    await admin.post(paths.policy(testCellar), { limit_readings: '', limit_seconds: '', age_max: '', ahead_max: '' })
    expect(policyNow()).toMatchObject({ limit: null, retentionMs: 365 * dayMs })

    expect((await admin.get(`${paths.retention(testCellar)}?days=`)).body).toContain('Keep readings for ever?')
    await admin.post(paths.retention(testCellar), { days: '' })
    expect(policyNow()?.retentionMs).toBeNull()
  })

  test('refuse a wrong number of days at its field', async () => {
    await makeCellar()
    for (const days of ['0', '1.5', '30d', '-1', '36501', 'x']) {
      const asked = await admin.get(`${paths.retention(testCellar)}?days=${encodeURIComponent(days)}`)
      const sent = await admin.post(paths.retention(testCellar), { days })
      for (const { status, body } of [asked, sent]) {
        expect([days, status]).toEqual([days, 422])
        expect(body).toContain('a whole number of days')
        expect(body).toContain(`value="${days}"`)
      }
    }
    expect(service.core.projections.cellars.get(testCellar)?.policy.retentionMs).toBeNull()
  })

  test('refuse a wrong bound at its field, and change nothing', async () => {
    await makeCellar()
    const blank = { limit_readings: '', limit_seconds: '', age_max: '', ahead_max: '' }
    const wrong = [
      [{ ...blank, limit_readings: '10' }, 'limit_seconds'],
      [{ ...blank, limit_seconds: '10' }, 'limit_readings'],
      [{ ...blank, limit_readings: '0', limit_seconds: '10' }, 'limit_readings'],
      [{ ...blank, limit_readings: '10000001', limit_seconds: '10' }, 'limit_readings'],
      [{ ...blank, limit_readings: '1.5', limit_seconds: '10' }, 'limit_readings'],
      [{ ...blank, limit_readings: '10', limit_seconds: '86401' }, 'limit_seconds'],
      [{ ...blank, limit_readings: '10', limit_seconds: '0' }, 'limit_seconds'],
      [{ ...blank, age_max: '30' }, 'age_max'],
      [{ ...blank, ahead_max: '-1m' }, 'ahead_max'],
    ] as const
    const before = service.core.projections.cellars.get(testCellar)
    for (const [fields, fault] of wrong) {
      await admin.get(paths.settings(testCellar))
      const answer = await admin.post(paths.policy(testCellar), fields)
      expect([fault, answer.status, answer.body.includes(`id="fault-${fault}"`)]).toEqual([fault, 422, true])
    }
    expect(service.core.projections.cellars.get(testCellar)).toEqual(before)
  })
})

describe('a new key', () => {
  beforeEach(() => makeCellar())

  test('is shown only in the answer to its form, and works', async () => {
    const { answer } = await newKey({ label: 'Pump' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.location).toBeNull()
    const [key = ''] = answer.body.match(wholeKey) ?? []
    expect((await service.post(validReading, key)).status).toBe(200)
    const { keyId } = onlyKey()
    for (const path of [
      paths.keys(testCellar),
      paths.key(keyId),
      paths.cellar(testCellar),
      paths.editKey(keyId),
      '/cellars',
    ]) {
      expect((await admin.get(path)).body.match(wholeKey)).toBeNull()
    }
    expect(JSON.stringify(await service.log.readAll({ limit: 100 }))).not.toContain(key.slice(13, 56))
    expect(JSON.stringify(service.lines)).not.toContain(key)
  })

  test('is made and shown once by a form that is sent twice', async () => {
    const { sent, answer } = await newKey()
    expect(answer.status).toBe(201)
    const reloaded = await admin.post(paths.newKey(testCellar), sent)
    expect([reloaded.status, reloaded.location]).toEqual([303, paths.keyShown(onlyKey().keyId)])
    const { body } = await admin.get(paths.keyShown(onlyKey().keyId))
    expect([body.includes('was shown once, and cannot be shown again'), body.match(wholeKey)]).toEqual([true, null])
  })

  test('is made once by two forms at the same moment', async () => {
    const page = await admin.get(`${paths.keys(testCellar)}/new`)
    const _key_id = /name="_key_id" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    const sent = {
      label: '',
      note: '',
      expires: 'never',
      expires_on: '',
      limit_readings: '',
      limit_seconds: '',
      _key_id,
    }
    const answers = await Promise.all([1, 2, 3].map(() => admin.post(paths.newKey(testCellar), sent)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 303, 303])
    onlyKey()
  })

  test('is made by a form of another node or an earlier process', async () => {
    const { answer } = await newKey({ _key_id: '4fGh7kLm' })
    expect(answer.status).toBe(201)
    expect(onlyKey().keyId).toBe('4fGh7kLm')
  })

  test('is not made with a wrong id, which the form replaces', async () => {
    const { answer } = await newKey({ _key_id: '../4fGh7', label: 'kept label' })
    expect([answer.status, answer.body.includes('value="kept label"')]).toEqual([422, true])
    expect(answer.body).toMatch(/name="_key_id" value="[0-9A-Za-z]{8}"/)
    expect(service.core.projections.keys.list()).toHaveLength(0)
  })

  test('is made by the corrected form after a fault', async () => {
    const { sent, answer } = await newKey({ limit_readings: 'many', limit_seconds: '60' })
    expect(answer.status).toBe(422)
    const mended = await admin.post(paths.newKey(testCellar), { ...sent, limit_readings: '5' })
    expect(mended.status).toBe(201)
    expect(onlyKey().limit).toEqual({ readings: 5, windowMs: 60_000 })
  })

  test('expires after the preset, or when the chosen day ends in UTC', async () => {
    const now = service.clock.now()
    const choices = [
      [{ expires: 'never' }, null],
      [{ expires: '7d' }, now + 7 * dayMs],
      [{ expires: '30d' }, now + 30 * dayMs],
      [{ expires: '90d' }, now + 90 * dayMs],
      [{ expires: '1y' }, now + 365 * dayMs],
      [{ expires: 'date', expires_on: '2028-02-29' }, Date.UTC(2028, 2, 1)],
      [{ expires: 'date', expires_on: '2026-03-01' }, Date.UTC(2026, 2, 2)],
      [{ expires: '7d', expires_on: '2028-02-29' }, now + 7 * dayMs],
    ] as const
    for (const [fields, expiresAt] of choices) {
      const { answer } = await newKey(fields)
      expect([fields, answer.status]).toEqual([fields, 201])
      const keyId = /clr_([0-9A-Za-z]{8})_/.exec(answer.body)?.[1] ?? ''
      expect([fields, service.core.projections.keys.get(keyId)?.expiresAt]).toEqual([fields, expiresAt])
    }
  })

  test('refuses a wrong or past expiry at its field', async () => {
    const wrong = [
      [{ expires: '' }, 'expires'],
      [{ expires: 'keep' }, 'expires'],
      [{ expires: 'soon' }, 'expires'],
      [{ expires: 'date', expires_on: '' }, 'expires_on'],
      [{ expires: 'date', expires_on: '2026-02-30' }, 'expires_on'],
      [{ expires: 'date', expires_on: '2026-02-28' }, 'expires_on'],
      [{ expires: 'date', expires_on: 'tomorrow' }, 'expires_on'],
    ] as const
    for (const [fields, fault] of wrong) {
      const { answer } = await newKey({ ...fields, label: 'kept' })
      expect([fields, answer.status, answer.body.includes(`id="fault-${fault}"`)]).toEqual([fields, 422, true])
      expect(answer.body).toContain('value="kept"')
      expect(answer.body).not.toContain('To end a key now')
    }
    expect(service.core.projections.keys.list()).toHaveLength(0)
    const { keyId } = await service.createKey()
    const over = { label: 'x', note: '', expires: 'date', expires_on: '2020-01-01' }
    expect((await admin.post(paths.editKey(keyId), over)).body).toContain('To stop the key now, revoke it.')
  })
})

describe('the list of cellars', () => {
  test('shows a full page, the rest on the next, also live', async () => {
    const before = service.core.projections.cellars.list().length
    for (let cellar = before; cellar <= cellarsPerPageMax; cellar += 1) {
      await service.core.cellars.create({ cellar: `c-${String(cellar).padStart(3, '0')}`, title: '' }, testAsker)
    }
    const rows = (body: string) => [...body.matchAll(/class="row-name" href="([^"]+)"/g)].map(([, href]) => href)
    const first = await admin.get(paths.cellars)
    const second = await admin.get(paths.cellarsPage(2))
    const hrefs = [...rows(first.body), ...rows(second.body)]
    expect([rows(first.body).length, hrefs.length, new Set(hrefs).size]).toEqual([
      cellarsPerPageMax,
      cellarsPerPageMax + 1,
      cellarsPerPageMax + 1,
    ])
    expect(first.body).toContain(`href="${paths.cellarsPage(2)}"`)
    expect(second.body).toContain(`hx-sse:connect="${paths.liveCellars(2)}"`)
    expect(rows((await admin.get(paths.cellarsPage(3))).body)).toEqual(rows(second.body))

    expect(first.body).toContain('Find cellars')
    const found = await admin.post(paths.findCellars, { find: 'C-05 c-0' })
    const of10 = await admin.get(found.location ?? '')
    expect([found.location, rows(of10.body).length]).toEqual([`${paths.findCellars}?find=C-05+c-0`, 10])
    expect(of10.body).toContain(`hx-sse:connect="${paths.liveCellars(1, 'c-05 c-0')}"`)
    expect(of10.body).toContain('10 of 101 cellars')
    expect((await admin.get(paths.cellarsPage(1, 'nowhere'))).body).toContain('No cellar has this title')
  })
})

describe('the list of keys', () => {
  test('shows a full page and the rest on the next', async () => {
    for (let key = 0; key <= keysPerPageMax; key += 1) await service.createKey()
    const rows = async (path: string) =>
      [...(await admin.get(path)).body.matchAll(/<tr id="key-(\w+)"/g)].map(([, id]) => id)
    const first = await rows(paths.keys(testCellar))
    const second = await rows(paths.keys(testCellar, { page: 2 }))
    expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([
      keysPerPageMax,
      1,
      keysPerPageMax + 1,
    ])
    expect((await admin.get(paths.keys(testCellar))).body).toContain(`${paths.keys(testCellar, { page: 2 })}"`)
    for (const page of ['3', '999999']) expect(await rows(`${paths.keys(testCellar)}?page=${page}`)).toEqual(second)
    for (const page of ['0', '-1', 'x', '1e3'])
      expect(await rows(`${paths.keys(testCellar)}?page=${page}`)).toEqual(first)
  })
})

describe('a cellar’s list of keys', () => {
  test('shows how a device sends, without a real key', async () => {
    const cellar = "'; rm -rf ~ #"
    const { key } = await service.createKey({ cellar })
    const { body } = await admin.get(paths.keys(cellar))
    const [, details = ''] = /<details class="card">([\s\S]*)<\/details>/.exec(body) ?? []
    expect(details).toContain('How to send a reading')
    const addresses = [...details.matchAll(/http[^ ]+\/ingest[a-z/]*/g)].map(([address]) => address)
    // The shell checks first. The programs only check, and their comment says how to store.
    const store = `${service.url}/api/v1/ingest`
    expect(addresses).toEqual([`${store}/check`, store, `${store}/check`, `${store}/check`])
    expect(details.match(/CELLARBOOK_KEY/g)).toHaveLength(7)
    expect(details).toContain('\\u0027; rm -rf ~ #')
    expect(details).not.toContain("'; rm")
    expect(details).toContain(`href="${paths.devicesGuide}"`)
    expect(body).not.toContain(key)
    expect(body.match(wholeKey)).toBe(null)
  })
})

describe('a key’s page', () => {
  test('leads to its log and readings, and says what a printed page is of', async () => {
    const { keyId } = await service.createKey()
    const { body } = await admin.get(paths.key(keyId))
    for (const kind of [null, 'readings'] as const)
      expect(body).toContain(`href="${paths.log({ key: keyId, kind }).replaceAll('&', '&amp;')}"`)
    const report = body.slice(body.indexOf('<p class="report"'), body.indexOf('id="key-now"'))
    const words = report.replace(/<[^>]*>/g, '')
    const position = service.core.projections.position?.toLocaleString('en')
    expect(words).toContain(`Printed by ${emailOf.admin}. As of 2026-03-01 12:00:00 UTC, log position ${position}.`)
  })

  test('suspends, resumes and revokes after a confirmation, in force with the answer', async () => {
    const { key, keyId } = await service.createKey()
    const status = async () => (await service.post(validReading, key)).status
    expect(await status()).toBe(200)
    await service.untilFolded(keyId, 1)
    const asked = await admin.get(paths.revokeKey(keyId))
    expect(asked.body).toContain('This key is in use:')
    expect(asked.body).toContain('Every node refuses readings with this key as soon as you confirm.')
    for (const [path, after] of [
      [paths.suspendKey(keyId), 401],
      [paths.resumeKey(keyId), 200],
      [paths.revokeKey(keyId), 401],
    ] as const) {
      await admin.get(path)
      const done = await admin.post(path, { reason: 'a test' })
      expect([path, done.status, done.location]).toEqual([path, 303, paths.key(keyId)])
      expect([path, await status()]).toEqual([path, after])
    }
    expect((await admin.get(paths.key(keyId))).body).toContain(
      'Key revoked. Every node refuses readings with this key now.',
    )
    expect((await admin.get(paths.key(keyId))).body).not.toContain('Key revoked.')
  })

  test('shows no future expiry and no use of the limit once revoked', async () => {
    const expiresAt = service.clock.now() + 50 * 60_000
    const { keyId } = await service.createKey({ expiresAt, limit: { readings: 7, windowMs: 60_000 } })
    const facts = async () => /id="key-facts".*?<\/section>/s.exec((await admin.get(paths.key(keyId))).body)?.[0] ?? ''
    for (const said of ['in 50 minutes', 'class="meter', 'Usage']) expect(await facts()).toContain(said)
    await service.core.keys.revoke(keyId, '', testAsker)
    for (const said of ['in 50 minutes', 'class="meter', 'Usage']) expect(await facts()).not.toContain(said)
    for (const said of ['2026-03-01 12:50', '7 per 60 s']) expect(await facts()).toContain(said)
  })

  test('says that resuming an expired key is not enough', async () => {
    const expiresAt = service.clock.now() + 1_000
    const { key, keyId } = await service.createKey({ expiresAt })
    await service.core.keys.suspend(keyId, '', testAsker)
    const asked = async () => (await admin.get(paths.resumeKey(keyId))).body
    const told = async () => (await admin.get(paths.key(keyId))).body
    service.clock.advance(999)
    expect(await asked()).toContain('Every node accepts readings with this key again, within a second.')
    expect(await told()).toContain('until an admin resumes the key')
    service.clock.advance(1)
    expect(await told()).toContain('The key has also expired: after you resume it, set a later expiry.')
    expect(await told()).not.toContain('until an admin resumes the key')
    expect(await asked()).toContain('After you resume it, its readings are still refused')
    expect(await asked()).not.toContain('accepted again')
    await admin.post(paths.resumeKey(keyId), { reason: '' })
    const { body } = await admin.get(paths.key(keyId))
    expect(body).toContain('Key resumed, but it has expired. Set a later expiry to use the key again.')
    expect(body).not.toContain('accepted again')
    expect((await service.post(validReading, key)).status).toBe(401)
  })

  test('says when and by whom an action was done before', async () => {
    const { keyId } = await service.createKey()
    const said = async (): Promise<string> =>
      /class="notice calm" role="status">([^<]*)/.exec((await admin.get(paths.key(keyId))).body)?.[1] ?? ''
    const onlySays = async (path: string, sentence: string): Promise<void> => {
      const events = await eventCount()
      await admin.get(paths.cellars)
      const fields = { reason: 'lost', label: 'new', note: '', expires: 'never', limit_readings: '', limit_seconds: '' }
      for (const ask of [() => admin.get(path), () => admin.post(path, fields)]) {
        const answer = await ask()
        expect([path, answer.status, answer.location]).toEqual([path, 303, paths.key(keyId)])
        expect([path, await said()]).toEqual([path, sentence])
        expect([path, await said()]).not.toEqual([path, sentence])
      }
      expect([path, await eventCount()]).toEqual([path, events])
    }
    const eventCount = async () => (await service.log.readAll({ limit: 1_000 })).length
    await onlySays(paths.resumeKey(keyId), 'This key is not suspended. Nothing was changed.')

    await admin.post(paths.suspendKey(keyId), { reason: 'first' })
    await admin.get(paths.key(keyId))
    const suspended = `This key was already suspended at 2026-03-01 12:00:00 UTC by ${emailOf.admin}. Nothing was changed.`
    service.clock.advance(60_000)
    await onlySays(paths.suspendKey(keyId), suspended)

    await admin.post(paths.revokeKey(keyId), { reason: 'first' })
    await admin.get(paths.key(keyId))
    const revoked = `This key was already revoked at 2026-03-01 12:01:00 UTC by ${emailOf.admin}. Nothing was changed.`
    service.clock.advance(60_000)
    for (const path of [paths.revokeKey, paths.suspendKey, paths.resumeKey, paths.editKey]) {
      await onlySays(path(keyId), revoked)
    }
    expect((await admin.get(paths.rotateKey(keyId))).location).toBe(paths.key(keyId))
    expect(await said()).toBe(revoked)
    expect(service.core.projections.keys.get(keyId)?.revoked?.reason).toBe('first')
  })

  test('says if somebody else was first, also after it had looked', async () => {
    const overtaken = await startWithOperators({
      wrapCore: (core) => {
        const revoke: typeof core.keys.revoke = async (keyId, reason, asker) => {
          await core.keys.revoke(keyId, 'stolen', testAsker)
          return core.keys.revoke(keyId, reason, asker)
        }
        return { ...core, keys: { ...core.keys, revoke } }
      },
    })
    const person = await signedIn(overtaken, 'admin')
    const { keyId } = await overtaken.createKey()
    await person.get(paths.revokeKey(keyId))
    await person.post(paths.revokeKey(keyId), { reason: 'mine' })
    const { body } = await person.get(paths.key(keyId))
    expect(body).toContain(
      'This key was already revoked at 2026-03-01 12:00:00 UTC by the command line. Nothing was changed.',
    )
    expect(body).not.toContain('mine')
    await overtaken.stop()
  })

  test('edits label, note, limit and expiry, and keeps the rest', async () => {
    const { keyId } = await service.createKey({ label: 'Old' })
    const page = await admin.get(paths.editKey(keyId))
    expect(page.body).not.toContain('gets the next number')
    expect((await admin.get(paths.newKey(testCellar))).body).toContain('Default: “Key” and a number.')
    expect(page.body).toContain('value="Old"')
    const fields = {
      label: 'New',
      note: 'a\r\nb',
      expires: '7d',
      expires_on: '',
      limit_readings: '9',
      limit_seconds: '60',
    }
    expect((await admin.post(paths.editKey(keyId), fields)).status).toBe(303)
    const key = service.core.projections.keys.get(keyId)
    expect(key).toMatchObject({
      label: 'New',
      note: 'a\nb',
      limit: { readings: 9, windowMs: 60_000 },
      expiresAt: service.clock.now() + 7 * dayMs,
    })
    const events = (await service.log.readAll({ limit: 100 })).length
    await admin.get(paths.editKey(keyId))
    expect((await admin.post(paths.editKey(keyId), { ...fields, expires: 'keep' })).status).toBe(303)
    expect((await service.log.readAll({ limit: 100 })).length).toBe(events)
  })

  test('changes nothing if one field of an edit is wrong', async () => {
    const { keyId } = await service.createKey({ label: 'Old' })
    await admin.get(paths.editKey(keyId))
    const fields = { label: 'New', note: '', expires: '7d', expires_on: '', limit_readings: '9', limit_seconds: '' }
    const answer = await admin.post(paths.editKey(keyId), fields)
    expect([answer.status, answer.body.includes('id="fault-limit_seconds"')]).toEqual([422, true])
    expect(service.core.projections.keys.get(keyId)).toMatchObject({ label: 'Old', expiresAt: null, limit: null })
  })

  test('shows its history with actor, position, seal and fences', async () => {
    const { key, keyId } = await service.createKey({ label: 'Told' })
    const act = async (path: string) => {
      await admin.get(path)
      await admin.post(path, { reason: 'why & how' })
    }
    await service.post(validReading, key)
    await act(paths.suspendKey(keyId))
    await act(paths.resumeKey(keyId))
    for (let reading = 0; reading < 40; reading += 1) await service.post(validReading, key)
    await act(paths.suspendKey(keyId))
    await act(paths.revokeKey(keyId))
    const typesIn = (html: string) => [...html.matchAll(/<code class="under">(\w+)<\/code>/g)].map(([, type]) => type)
    const { body } = await admin.get(paths.key(keyId))
    expect(typesIn(body)).toEqual([
      'ReadingsSealed',
      'KeyRevoked',
      'KeySuspended',
      'KeyResumed',
      'KeySuspended',
      'KeyCreated',
    ])
    expect(body).toContain(emailOf.admin)
    expect(body).toContain('why &amp; how')
    expect(body).toContain(`key-${keyId}@0`)
    expect(body).toContain('2 internal events are not shown.')
    const everything = await admin.get(paths.key(keyId, 1, true))
    expect(typesIn(everything.body)).toEqual([
      'ReadingsSealed',
      'KeyRevoked',
      'KeySuspended',
      'ReadingsFenced',
      'KeyResumed',
      'KeySuspended',
      'ReadingsFenced',
      'KeyCreated',
    ])
    expect(everything.body).toContain(`hx-sse:connect="${paths.liveKey(keyId, 1, true)}"`)
    expect(everything.body.match(/<tr id="position-/g)).toHaveLength(5)
  })

  test('shows its history in pages, also live', async () => {
    const { keyId } = await service.createKey()
    for (let change = 1; change <= historyRowsPerPageMax; change += 1) {
      const asker = { ...testAsker, requestId: `request ${change}` }
      await service.core.keys.relabel(keyId, { label: `Key ${change} of many`, note: '' }, asker)
    }
    const rows = async (page: number) =>
      [...(await admin.get(paths.key(keyId, page))).body.matchAll(/<code class="under">(Key\w+)<\/code>/g)].map(
        ([, type]) => type,
      )
    expect(await rows(1)).toEqual(Array.from({ length: historyRowsPerPageMax }, () => 'KeyRelabelled'))
    expect(await rows(2)).toEqual(['KeyCreated'])
    const { body } = await admin.get(paths.key(keyId, 2))
    expect(body).toContain(`href="${paths.key(keyId)}#history"`)
    expect(body).toContain(`hx-sse:connect="${paths.liveKey(keyId, 2)}"`)
  })

  test('shows its state at an instant, with the reason, to the millisecond', async () => {
    const { keyId } = await service.createKey()
    service.clock.set(Date.UTC(2026, 2, 1, 13))
    await admin.get(paths.suspendKey(keyId))
    await admin.post(paths.suspendKey(keyId), { reason: 'cellar door open' })
    const at = async (text: string) => {
      const { body, status } = await admin.get(`${paths.key(keyId)}?at=${encodeURIComponent(text)}`)
      expect([text, status]).toEqual([text, body.includes('id="fault-at"') ? 422 : 200])
      const [answer] = /<div class="answer"[\s\S]*?<\/section>/.exec(body) ?? []
      return (
        answer?.replace(/<\/?(time|bdi|strong)[^>]*>|<\/?span>/g, '') ??
        `no answer: ${/id="fault-at"[^<]*<?/.exec(body)?.[0]}`
      )
    }
    const active = await at('2026-03-01 12:59:59.999 UTC')
    expect(active).toContain('pill active')
    expect(active).toContain(
      'Yes, it was valid at 2026-03-01 12:59:59.999 UTC: active since 2026-03-01 12:00:00.000 UTC by the command line.',
    )
    const suspended = await at('2026-03-01T13:00:00Z')
    expect(suspended).toContain('pill suspended')
    expect(suspended).toContain('cellar door open')
    expect(await at('2026-03-01 13:00')).toContain('pill suspended')
    expect(await at('2026-02-01')).toContain(
      'No, it did not exist at 2026-02-01 00:00:00.000 UTC: created 2026-03-01 12:00:00.000 UTC by',
    )
    const chosen = await admin.get(`${paths.key(keyId)}?at=&pick=2026-03-01T13:00:00`)
    expect(chosen.body).toContain('value="2026-03-01T13:00:00"')
    expect(await at('2026-03-01T14:00:00+01:00')).toContain('pill suspended')
    for (const words of ['Event before', 'ada@example.org suspended', '6,000 readings in 60 seconds'])
      expect(suspended).toContain(words)
    expect(suspended).toContain(`href="${paths.keyAt(keyId, '2026-03-01T13:00:00.000Z')}"`)
    await service.core.keys.resume(keyId, '', testAsker)
    await service.core.keys.setExpiry(keyId, Date.UTC(2026, 2, 1, 14), testAsker)
    service.clock.set(Date.UTC(2026, 2, 1, 15))
    admin = await signedIn(service, 'admin')
    const expired = await at('2026-03-01 14:00')
    expect(expired).toContain('pill expired')
    expect(expired).toContain(
      'No, it had expired at 2026-03-01 14:00:00.000 UTC: its expiry was 2026-03-01 14:00:00.000 UTC, set',
    )
    expect(await at('13:59')).toEqual(await at('2026-03-01 13:59'))
    expect(await at('13:59')).not.toContain('no answer')
    for (const text of ['noon', '2026-02-30', '2026-03-01 25:00', '25:00', '2026-03-01T13:00:00+25:00']) {
      expect([text, await at(text)]).toEqual([text, expect.stringContaining('no answer')])
    }
  })

  test('shows a seal without a revocation, because it alone says why', async () => {
    const { keyId } = await service.createKey()
    await service.core.log.append(readingsStream(keyId), 'none', [
      {
        id: crypto.randomUUID(),
        type: 'ReadingsSealed',
        recordedAt: service.clock.now(),
        data: { reason: 'node died' },
        metadata: { by: { kind: 'cli' }, requestId: 'seal', correlationId: 'seal', causationId: 'seal' },
      },
    ])
    await until(() => service.core.projections.readings.barriers(keyId).length === 1)
    const { body } = await admin.get(paths.key(keyId))
    expect(body).toContain('stopped permanently, on every node: “<bdi>node died</bdi>”')
    expect(body).not.toContain('not shown')
  })

  test('shows the limit of its cellar at an instant', async () => {
    const { keyId } = await service.createKey()
    service.clock.set(Date.UTC(2026, 2, 1, 13))
    const limit = { readings: 77, windowMs: 60_000 }
    await service.core.cellars.changePolicy(testCellar, { limit }, testAsker)
    const at = async (text: string) => (await admin.get(`${paths.key(keyId)}?at=${encodeURIComponent(text)}`)).body
    expect(await at('2026-03-01 12:59')).toContain('6,000 readings in 60 seconds')
    expect(await at('2026-03-01 13:00')).toContain('77 readings in 60 seconds')
  })

  test('refuses an instant in the future', async () => {
    const { keyId } = await service.createKey()
    const at = (text: string) => admin.get(`${paths.key(keyId)}?at=${encodeURIComponent(text)}`)
    service.clock.set(Date.UTC(2026, 2, 1, 13))
    expect((await at('2026-03-01 13:00:00.000')).body).toContain('pill active')
    for (const later of ['2026-03-01 13:00:00.001', '2027-03-01']) {
      const { status, body } = await at(later)
      expect([later, status, body.includes('class="answer"')]).toEqual([later, 422, false])
      expect(body).toContain('is in the future: it is now 2026-03-01T13:00:00.000Z')
      expect(body).toContain(`value="${later}"`)
    }
  })
})

describe('a cellar at an instant', () => {
  test('shows its settings and its keys as they were', async () => {
    const { keyId } = await service.createKey({ label: 'Old label' })
    service.clock.set(Date.UTC(2026, 2, 1, 13))
    await service.core.cellars.rename(testCellar, 'New title', testAsker)
    await service.core.cellars.changePolicy(testCellar, { limit: { readings: 77, windowMs: 60_000 } }, testAsker)
    await service.core.keys.relabel(keyId, { label: 'New label', note: '' }, testAsker)
    await service.core.keys.revoke(keyId, 'stolen', testAsker)
    await service.createKey({ label: 'Later key' })
    const at = async (text: string) => (await admin.get(paths.cellarThen(testCellar, text))).body
    const before = await at('2026-03-01 12:59')
    for (const words of ['Old label', 'pill active', '6,000 per 60 s', 'and had <span>1 key</span>'])
      expect(before).toContain(words)
    for (const words of ['New label', 'Later key', '77 per 60 s']) expect(before).not.toContain(words)
    const after = await at('2026-03-01 13:00')
    for (const words of ['New label', 'Later key', 'pill revoked', '77 per 60 s', '<bdi>New title</bdi>'])
      expect(after).toContain(words)
    expect(await at('2026-01-01')).toContain('did not exist at')
    expect(await at('2027-01-01')).toContain('is in the future')
    expect(await at('12:59')).toContain('Old label')
    expect(await at('yesterday')).toContain('did not exist at')
    expect(await at('noon')).toContain('It must be a time (UTC) like 10:14')
  })

  test('shows its keys in pages', async () => {
    for (let key = 0; key <= keysThenPerPageMax; key += 1) await service.createKey({ label: `Key ${key}` })
    const rows = async (page: number) =>
      (await admin.get(paths.cellarThen(testCellar, '2026-03-01 12:00', page))).body.match(/class="row-name"/g)?.length
    expect([await rows(1), await rows(2)]).toEqual([keysThenPerPageMax, 1])
  })
})

describe('operators', () => {
  test('are invited by a link that is shown once and works', async () => {
    await admin.get('/operators')
    const made = await admin.post('/operators/links', { email: 'Eva@Example.org', role: 'auditor' })
    expect(made.status).toBe(201)
    const [link = ''] = /http:\/\/127\.0\.0\.1:\d+\/link\/[0-9A-Za-z]+/.exec(made.body) ?? []
    const person = await fetch(link)
    expect(await person.text()).toContain('Join Cellarbook')
    expect((await admin.get('/operators')).body).not.toContain('/link/')
  })

  /** Sends the confirmation with the fields that its page shows. */
  const answered = async (path: string, person = admin) => {
    const asked = await person.get(path)
    expect([path, asked.status]).toEqual([path, 200])
    const [, role] = /name="role" value="(\w+)"/.exec(asked.body) ?? []
    return person.post(path, role === undefined ? {} : { role })
  }

  test('get another role after a confirmation, once, in open sessions too', async () => {
    const auditor = await signedIn(service, 'auditor')
    expect((await auditor.get('/cellars/new')).status).toBe(403)
    const path = paths.operatorRole(emailOf.auditor)
    const changed = await answered(path)
    expect([changed.status, changed.location]).toEqual([303, paths.operators])
    expect((await admin.get(paths.operators)).body).toContain('Role changed and in force.')
    expect((await auditor.get('/cellars/new')).status).toBe(200)
    expect((await admin.post(path, { role: 'admin' })).status).toBe(303)
    expect(service.core.projections.operators.get(emailOf.auditor)?.role).toBe('admin')
  })

  test('are removed after a confirmation, with their sessions, and may be invited again', async () => {
    const auditor = await signedIn(service, 'auditor')
    const path = paths.removeOperator(emailOf.auditor)
    const removed = await answered(path)
    expect([removed.status, removed.location]).toEqual([303, paths.operators])
    const page = (await admin.get(paths.operators)).body
    expect(page).toContain('Their sessions and one-time links no longer work.')
    expect(page).not.toContain(emailOf.auditor)
    expect((await auditor.get('/cellars')).location).toStartWith('/sign-in')
    expect((await admin.post(path, {})).status).toBe(303)
    expect((await admin.get(path)).status).toBe(404)
    const invitation = { email: emailOf.auditor, role: 'auditor', own_password: testPassword }
    expect((await admin.post(paths.operatorLinks, invitation)).status).toBe(201)
  })

  test('cannot remove or demote the only admin', async () => {
    expect((await admin.get(paths.operators)).body).toContain('>cannot be removed<')
    expect((await admin.get(paths.operators)).body).not.toContain(paths.removeOperator(emailOf.admin))
    for (const path of [paths.removeOperator(emailOf.admin), paths.operatorRole(emailOf.admin)]) {
      const refused = await answered(path)
      expect([path, refused.status]).toEqual([path, 409])
      expect(refused.body).toContain('This is the only admin')
    }
    expect(service.core.projections.operators.get(emailOf.admin)?.role).toBe('admin')
  })

  test('may give up their own access while another admin exists', async () => {
    await answered(paths.operatorRole(emailOf.auditor))
    expect((await admin.get(paths.removeOperator(emailOf.admin))).body).toContain('This is your own account.')
    const gone = await answered(paths.removeOperator(emailOf.admin))
    expect([gone.status, gone.location]).toEqual([303, paths.signIn])
    expect((await admin.get(paths.signIn)).body).toContain('You removed your own access.')
  })

  test('may make themselves auditors, and land on a page for auditors', async () => {
    await answered(paths.operatorRole(emailOf.auditor))
    const changed = await answered(paths.operatorRole(emailOf.admin))
    expect([changed.status, changed.location]).toEqual([303, paths.operators])
    const page = await admin.get(paths.operators)
    expect([page.status, page.body.includes(paths.operatorLinks)]).toEqual([200, false])
    expect((await admin.get(paths.operatorRole(emailOf.admin))).status).toBe(403)
  })

  test('are found by an e-mail that would break a path', async () => {
    const email = '..%2f?a/b#c@d.example'
    const link = await service.core.operators.issueLink({ email, role: 'auditor' }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    const password = 'twelve chars and more'
    await service.core.operators.spendLink({ secret: link.value.secret, email, password }, testAsker)
    expect((await answered(paths.removeOperator(email))).status).toBe(303)
    expect(service.core.projections.operators.get(email)).toBeNull()
  })

  describe('invited people', () => {
    const email = 'eve@example.org'
    const linkFor = async (role: 'admin' | 'auditor'): Promise<string> => {
      const link = await service.core.operators.issueLink({ email, role }, testAsker)
      if (!link.ok) throw new Error(link.refusal.kind)
      return link.value.secret
    }
    const isListed = async (person = admin): Promise<boolean> =>
      (await person.get(paths.operators)).body.includes(email)

    test('are listed with their highest role until the last link ends', async () => {
      await linkFor('admin')
      service.clock.advance(3_600_000)
      await linkFor('auditor')
      const auditor = await signedIn(service, 'auditor')
      const [row = ''] =
        (await auditor.get(paths.operators)).body.match(/<tr>(?:(?!<tr>).)*eve@example\.org.*?<\/tr>/s) ?? []
      expect(row).toContain('<td data-label="Role">admin</td>')
      expect(row).toMatch(/>Invited<.*>link expires <time datetime="2026-03-02T13:00:00\.000Z"/)
      service.clock.advance(linkMsMax - 1)
      const later = [await signedIn(service, 'admin'), await signedIn(service, 'auditor')]
      for (const person of later) expect(await isListed(person)).toBe(true)
      service.clock.advance(1)
      for (const person of later) expect(await isListed(person)).toBe(false)
      expect((await later[0]?.get(paths.removeOperator(email)))?.status).toBe(404)
    })

    test('lose every link when an admin withdraws the invitation', async () => {
      const secrets = [await linkFor('admin'), await linkFor('auditor')]
      const path = paths.removeOperator(email)
      expect((await admin.get(paths.operators)).body).toContain(`href="${path}"`)
      const question = (await admin.get(path)).body
      expect(question).toContain('Withdraw the invitation of')
      expect(question).not.toContain('Every session')
      const withdrawn = await admin.post(path, {})
      expect([withdrawn.status, withdrawn.location]).toEqual([303, paths.operators])
      const page = (await admin.get(paths.operators)).body
      expect([page.includes('Invitation withdrawn. Its one-time links no longer work.'), page.includes(email)]).toEqual(
        [true, false],
      )
      for (const secret of secrets) expect((await fetch(service.url + paths.link(secret))).status).toBe(410)
    })

    test('have no role to change', async () => {
      await linkFor('auditor')
      expect((await admin.get(paths.operatorRole(email))).status).toBe(404)
      expect((await admin.post(paths.operatorRole(email), { role: 'admin' })).status).toBe(404)
    })

    test('are no longer listed once they joined', async () => {
      const secret = await linkFor('auditor')
      expect((await admin.get(paths.removeOperator(email))).body).toContain('Withdraw the invitation of')
      await service.core.operators.spendLink({ secret, email, password: 'twelve chars and more' }, testAsker)
      await linkFor('auditor')
      const page = (await admin.get(paths.operators)).body
      expect([page.includes(email), page.includes('>Invited<')]).toEqual([true, false])
      // This confirmation was opened to withdraw the invitation, but the person has joined since. So it removes an operator.
      expect((await admin.post(paths.removeOperator(email), {})).status).toBe(303)
      expect((await admin.get(paths.operators)).body).toContain(
        'Operator removed. Their sessions and one-time links no longer work.',
      )
    })
  })

  test('are refused with a wrong e-mail or role, at its field', async () => {
    await admin.get('/operators')
    const wrongEmail = await admin.post('/operators/links', { email: 'nobody', role: 'auditor' })
    expect([wrongEmail.status, wrongEmail.body.includes('id="fault-email"')]).toEqual([422, true])
    const wrongRole = await admin.post('/operators/links', { email: 'a@b.c', role: 'root' })
    expect([wrongRole.status, wrongRole.body.includes('Choose admin or auditor.')]).toEqual([422, true])
  })
})

describe('PUBLIC_URL', () => {
  test('is the address in links and snippets', async () => {
    const behind = await startWithOperators({ web: { publicUrl: 'https://cellar.example' } })
    const person = await signedIn(behind, 'admin')
    await behind.core.cellars.create({ cellar: testCellar, title: '' }, testAsker)
    const page = await person.get(`${paths.keys(testCellar)}/new`)
    const _key_id = /name="_key_id" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    const made = await person.post(paths.newKey(testCellar), { expires: 'never', _key_id })
    expect(made.body).toContain('https://cellar.example/api/v1/ingest')
    await person.get('/operators')
    const link = await person.post('/operators/links', { email: 'a@b.c', role: 'auditor' })
    expect(link.body).toContain('https://cellar.example/link/')
    await behind.stop()
  })
})

describe('a key without cost budget', () => {
  test('shows the cause, or that this node knows none', async () => {
    await makeCellar()
    const { key, keyId } = await service.createKey()
    expect((await admin.get(paths.key(keyId))).body).toContain('None')
    for (let sent = 0; sent < 5; sent += 1) await service.postBatch('x'.repeat(1_000_000), key)
    const { body } = await admin.get(paths.key(keyId))
    expect(body).toContain('too many requests that stored nothing; last error: MALFORMED_JSON')
  })
})
