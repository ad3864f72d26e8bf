import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import type { RacksOfKeys } from '../../../../src/log/ask-index.ts'
import { paths } from '../../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../../support/test-service.ts'
import { until } from '../../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor } from '../visitor.ts'

const minute = 60_000
const day = 24 * 60 * minute

/** Replaces the answer of the index, for what takes millions of readings. `away`: nobody answers. */
let told: RacksOfKeys | 'away' | null = null
let service: Service
let admin: Visitor
let old: { readonly key: string; readonly keyId: string }

const withToldRacks = (core: Core): Core => ({
  ...core,
  questions: {
    close: () => core.questions.close(),
    ask: async (name, wanted, options) => {
      const answered = await core.questions.ask(name, wanted, options)
      if (name !== 'racksOfKeys' || told === null) return answered
      return told === 'away' ? { kind: 'late' } : JSON.parse(JSON.stringify({ ...answered, answer: told }))
    },
  },
})

beforeEach(async () => {
  told = null
  service = await startWithOperators({ wrapCore: withToldRacks })
  admin = await signedIn(service, 'admin')
  old = await service.createKey({ label: 'Press' })
})
afterEach(() => service.stop())

const rotated = async (keyId: string, overlapMs = day): Promise<{ readonly key: string; readonly keyId: string }> => {
  const created = await service.core.keys.rotate(keyId, { overlapMs }, testAsker)
  if (!created.ok) throw new Error(created.refusal.kind)
  return { key: created.value.key, keyId: created.value.state.keyId }
}
const send = async (key: string, rack: string): Promise<number> =>
  (await service.post({ ...validReading, rack }, key)).status
const stateOf = (keyId: string) => service.core.projections.keys.get(keyId)
const used = async (): Promise<{ readonly key: string; readonly keyId: string }> => {
  const next = await rotated(old.keyId)
  await send(old.key, 'rack-2')
  service.clock.advance(minute)
  await send(old.key, 'rack-1')
  await send(next.key, 'rack-2')
  await until(() => stateOf(old.keyId)?.rotation?.superseded != null)
  return next
}
const textOf = async (path: string): Promise<string> =>
  (await admin.get(path)).body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,:])/g, '$1')

describe('the page of a rotated key', () => {
  test('shows the racks on the pages of both keys', async () => {
    const next = await used()
    for (const { keyId } of [old, next]) {
      const text = await textOf(paths.key(keyId))
      expect(text).toContain('1 of 2 racks have switched. 1 still uses the old key.')
      expect(text).toMatch(/rack-1 Uses the old key .* Not seen rack-2 Switched/)
    }
  })

  test('says what the list of racks lacks', async () => {
    const next = await used()
    const pairs = [
      ...['rack-1', 'rack-2'].map((rack) => ({ key: old.keyId, rack, minute: 1 })),
      { key: next.keyId, rack: 'rack-3', minute: 1 },
    ]
    told = { racks: pairs, isCut: true, seenFromMinute: 29_500_000 }
    const text = await textOf(paths.key(old.keyId))
    expect(text).toContain('racks that were last seen before 2026-02-02 02:40:00 UTC can be missing')
    expect(text).toContain('By name, it ends with rack-2.')
    expect(text).not.toContain('rack-3')
    told = 'away'
    expect(await textOf(paths.key(old.keyId))).toContain('cannot say now which racks have switched')
  })

  test('counts a rack apart that never used the old key', async () => {
    const next = await used()
    await send(next.key, 'rack-3')
    const text = await textOf(paths.key(old.keyId))
    expect(text).toContain(
      '1 of 2 racks have switched. 1 still uses the old key. 1 more was seen with the new key only.',
    )
    expect(text).toMatch(/rack-3 New key only Not seen/)
  })

  test('calls a rack silent after a week, and says since when purges hide racks', async () => {
    await used()
    await admin.post(paths.keepKey(old.keyId), { end: 'never' })
    service.clock.advance(8 * day)
    admin = await signedIn(service, 'admin')
    const text = await textOf(paths.key(old.keyId))
    expect(text).toContain('1 of 2 racks have switched. 1 is silent.')
    expect(text).not.toContain('can be missing')
    await service.sweep()
    await service.core.cellars.changePolicy(testCellar, { retentionMs: day }, testAsker)
    service.clock.advance(day)
    await service.sweep()
    await until(() => service.core.projections.readings.purged(old.keyId) !== null)
    admin = await signedIn(service, 'admin')
    const purged = await textOf(paths.key(old.keyId))
    expect(purged).toMatch(/racks that were last seen before \S+ 00:00:00 UTC can be missing/)
    expect(purged).not.toContain('No rack has sent with either key yet.')
  })

  test('warns while the new key is revoked, and offers no retirement', async () => {
    const next = await used()
    await send(next.key, 'rack-1')
    await admin.post(paths.revokeKey(next.keyId), { reason: '' })
    const warning = 'The new key is revoked.'
    const texts = await Promise.all([paths.key(old.keyId), paths.allKeys({ rotation: true })].map(textOf))
    for (const text of texts) {
      expect(text).toContain(warning)
      expect(text).not.toMatch(/Retire (the old key )?now/)
    }
    expect(await textOf(paths.retireKey(old.keyId))).toContain(
      `${warning} Without the old key, every device is refused.`,
    )
    expect(await textOf(`${paths.changeKeys}?do=retire&key=${old.keyId}`)).toContain('No old key to retire')
  })

  test('says nothing of the present once the old key has stopped', async () => {
    await used()
    await admin.post(paths.retireKey(old.keyId), {})
    for (const path of [paths.key(old.keyId), paths.keepKey(old.keyId)]) {
      const text = await textOf(path)
      expect(text).toMatch(/1 (rack )?last sent with the old key/)
      expect(text).not.toContain('still use')
    }
  })

  test('offers no retirement of a suspended key that has expired', async () => {
    await used()
    await admin.post(paths.suspendKey(old.keyId), { reason: '' })
    service.clock.advance(2 * day)
    admin = await signedIn(service, 'admin')
    const text = await textOf(paths.key(old.keyId))
    expect(text).not.toContain('Retire the old key now')
    expect(text).not.toContain('Let it work again')
    expect(text).toContain('It is suspended too')
  })

  test('compares the racks of the newest keys of a long chain', async () => {
    let newest = old
    for (let at = 0; at < 21; at += 1) newest = await rotated(newest.keyId)
    await send(newest.key, 'rack-7')
    expect(await textOf(paths.key(old.keyId))).toContain('rack-7')
  })

  test('shows a chain of rotations in the order of its keys', async () => {
    const chain = [old.keyId]
    for (let at = 0; at < 6; at += 1) chain.push((await rotated(chain.at(-1) ?? '')).keyId)
    const shownOn = async (keyId: string): Promise<string | undefined> =>
      /<nav class="key-chain".*?<\/nav>/s.exec((await admin.get(paths.key(keyId))).body)?.[0]
    const middle = (await shownOn(chain[3] ?? '')) ?? ''
    expect([...middle.matchAll(/clr_(\w{8})_/g)].map(([, keyId]) => keyId)).toEqual(chain)
    expect(middle.match(/aria-current/g)).toHaveLength(1)
    expect(await shownOn(chain[0] ?? '')).toContain('2 later keys')
    expect(await shownOn((await service.createKey()).keyId)).toBeUndefined()
  })
})

describe('the list of rotations', () => {
  test('says how many racks of each old key have switched', async () => {
    const next = await used()
    const { key } = await service.createKey({ label: 'Alone' })
    await send(key, 'rack-9')
    const text = await textOf(paths.allKeys({ rotation: true }))
    expect(text.match(/\d of \d racks have switched/g)).toEqual(['1 of 2 racks have switched'])
    expect(text).toContain('Retire now')
    expect(text).not.toContain('Alone')
    await admin.post(paths.retireKey(old.keyId), {})
    expect(await textOf(paths.allKeys({ rotation: true }))).toContain('No rotation goes on: each old key has stopped.')
    expect(stateOf(next.keyId)?.expiresAt).toBeNull()
  })

  test('retires all old keys that it finds, and no new key', async () => {
    const next = await used()
    const unused = await service.createKey({ label: 'Unused' })
    await rotated(unused.keyId)
    const query = '?rotation=on&all=on&do=retire'
    const page = await admin.get(paths.changeKeys + query)
    const text = page.body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
    expect(text).toContain('Retire 1 key of')
    expect(text).toContain('1 of 2 racks have switched.')
    expect(text).toContain('3 chosen keys stay as they are: without a new key that works and is in use.')
    const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)?.[1] ?? ''
    const fields = { _form: fieldOf('_form'), _confirmed: fieldOf('_confirmed') }
    const { location } = await admin.post(paths.changeKeys + query, fields)
    expect(await textOf(location ?? '')).toContain('1 key retired Every node refuses their readings now.')
    expect(stateOf(old.keyId)?.expiresAt).toBe(service.clock.now())
    for (const { keyId } of [next, unused]) expect(stateOf(keyId)?.expiresAt).toBeNull()
    expect(await textOf(paths.allKeys({ rotation: true }))).not.toContain('racks have switched')
  })
})

describe('retiring the old key', () => {
  test('lets it expire now, once, until it gets a later end', async () => {
    await used()
    expect(await textOf(paths.retireKey(old.keyId))).toContain('1 rack still uses the old key: rack-1')
    service.clock.advance(minute)
    await admin.post(paths.retireKey(old.keyId), {})
    const retiredAt = service.clock.now()
    expect(stateOf(old.keyId)?.expiresAt).toBe(retiredAt)
    expect(await send(old.key, 'rack-1')).toBe(401)
    service.clock.advance(minute)
    await admin.get(paths.key(old.keyId))
    await admin.post(paths.retireKey(old.keyId), {})
    expect(stateOf(old.keyId)?.expiresAt).toBe(retiredAt)
    expect(await textOf(paths.key(old.keyId))).toContain('This key had already stopped.')
    await admin.post(paths.keepKey(old.keyId), { end: String(service.clock.now() + day) })
    expect(await send(old.key, 'rack-1')).toBe(200)
  })

  test('warns while the new key was never used', async () => {
    await rotated(old.keyId)
    expect(await textOf(paths.key(old.keyId))).not.toContain('Retire the old key now')
    expect(await textOf(paths.retireKey(old.keyId))).toContain(
      'The new key was never used. Every device would be refused.',
    )
  })
})

describe('keeping the old key longer', () => {
  test('adds nothing when the form is sent twice', async () => {
    await used()
    const end = /value="(\d+)"/.exec((await admin.get(paths.keepKey(old.keyId))).body)?.[1] ?? ''
    for (let sent = 0; sent < 2; sent += 1)
      expect((await admin.post(paths.keepKey(old.keyId), { end })).location).toBe(paths.key(old.keyId))
    expect(stateOf(old.keyId)?.expiresAt).toBe(service.clock.now() + 2 * day)
  })

  test('refuses an end that is earlier than the one somebody else chose', async () => {
    await used()
    const first = service.clock.now() + 2 * day
    const later = first + 29 * day
    await admin.post(paths.keepKey(old.keyId), { end: String(later) })
    for (const end of [first, 999_999_999_999_999, 9_999_999_999_999]) {
      const refused = await admin.post(paths.keepKey(old.keyId), { end: String(end) })
      expect(refused.status).toBe(422)
    }
    expect(stateOf(old.keyId)?.expiresAt).toBe(later)
    await admin.post(paths.keepKey(old.keyId), { end: 'never' })
    await admin.post(paths.keepKey(old.keyId), { end: String(later) })
    expect(stateOf(old.keyId)?.expiresAt).toBeNull()
  })

  test('is not offered before the first reading with the new key', async () => {
    await rotated(old.keyId)
    await service.core.keys.setExpiry(old.keyId, service.clock.now() + day, testAsker)
    const before = stateOf(old.keyId)
    expect((await admin.get(paths.keepKey(old.keyId))).location).toBe(paths.key(old.keyId))
    await admin.post(paths.keepKey(old.keyId), { end: 'never' })
    expect(stateOf(old.keyId)).toEqual(before)
  })

  test('refuses a time that is over, and takes one without end', async () => {
    await used()
    const before = stateOf(old.keyId)?.expiresAt
    for (const end of [String(service.clock.now()), 'soon', ''])
      expect((await admin.post(paths.keepKey(old.keyId), { end })).status).toBe(422)
    expect(stateOf(old.keyId)?.expiresAt).toBe(before)
    await admin.post(paths.keepKey(old.keyId), { end: 'never' })
    expect(await textOf(paths.key(old.keyId))).toContain('has no end: an admin removed its expiry.')
  })
})

describe('revoking the new key', () => {
  test('says that the old key keeps working if the new one was never used', async () => {
    const next = await rotated(old.keyId)
    const page = paths.revokeKey(next.keyId)
    expect(await textOf(page)).toContain(
      'keeps working: a new key that is revoked before its first use cannot stop it.',
    )
    await admin.post(page, { reason: '' })
    expect(await textOf(paths.key(old.keyId))).toContain('keeps working: the new key was revoked before its first use.')
    expect(await send(old.key, 'rack-1')).toBe(200)
  })

  test('says which key stops the old one instead', async () => {
    const next = await rotated(old.keyId)
    const { keyId } = await rotated(next.keyId)
    expect(await textOf(paths.revokeKey(next.keyId))).toContain(`first reading with clr_${keyId}_`)
  })

  test('says that the old key still stops once the new one was used', async () => {
    const next = await used()
    const text = await textOf(paths.revokeKey(next.keyId))
    expect(text).toContain('1 rack has sent with this key.')
    expect(text).toContain('still stops in 24 hours')
    expect(text).toContain('keep it longer first')
  })

  test('counts the racks of this key alone, and knows a suspended old key', async () => {
    const next = await used()
    const third = await rotated(next.keyId)
    for (const rack of ['rack-4', 'rack-5']) await send(third.key, rack)
    await admin.post(paths.suspendKey(old.keyId), { reason: '' })
    const text = await textOf(paths.revokeKey(next.keyId))
    expect(text).toContain('1 rack has sent with this key.')
    expect(text).toContain('is suspended: it cannot take over until you resume it.')
    expect(text).not.toContain('still stops')
  })
})
