import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Core } from '../../../src/actors/core-interface.ts'
import { overlapTyped } from '../../../src/domain/amounts.ts'
import { rotationOverlapsMs } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { faultyLog } from '../../support/logs/faulty-log.ts'
import { emailOf } from '../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { type Seen, signedIn, startWithOperators, type Visitor } from './visitor.ts'

let service: Service
let admin: Visitor
let old: { readonly key: string; readonly keyId: string }
beforeEach(async () => {
  service = await startWithOperators()
  admin = await signedIn(service, 'admin')
  old = await service.createKey({ label: 'Press' })
})
afterEach(() => service.stop())

const idIn = ({ body }: Seen): string => /name="_key_id" value="([^"]*)"/.exec(body)?.[1] ?? ''
const replacedWords = 'An earlier new key is still unused'
const plainText = (seen: Seen | undefined): string => (seen?.body ?? '').replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
const wholeKey = /clr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/

const rotate = async (overlap: string, fields: Readonly<Record<string, string>> = {}) => {
  const page = await admin.get(paths.rotateKey(old.keyId))
  const sent = { overlap, _key_id: idIn(page), ...fields }
  const answer = await admin.post(paths.rotateKey(old.keyId), sent)
  return { page, sent, answer, keyId: sent._key_id, key: wholeKey.exec(answer.body)?.[0] ?? '' }
}

const keysOfCellar = () => service.core.projections.keys.ofCellar(testCellar)
const eventsInLog = async (): Promise<number> => (await service.log.readAll({ limit: 1_000 })).length
const pageOf = async (keyId: string): Promise<string> => (await admin.get(paths.key(keyId))).body.replace(/\s+/g, ' ')
const endOf = (keyId: string) => service.core.projections.keys.get(keyId)?.rotation?.superseded ?? null

test('a key’s history and its event before an instant say that its successor ended it', async () => {
  const { keyId, key } = await rotate('0')
  service.clock.advance(60_000)
  await service.post(validReading, key)
  await until(() => endOf(old.keyId) !== null)
  service.clock.advance(60_000)
  const words =
    /Press( clr_.{8})? stopped working at .* 12:01:00\.000 UTC: its successor, Press clr_.{8}, was first used at/
  const history = plainText(await admin.get(paths.key(old.keyId)))
  expect(history).toMatch(words)
  expect(history).not.toContain('internal events')
  const then = plainText(await admin.get(paths.keyAt(old.keyId, '2026-03-01T12:01:30Z')))
  expect(then.slice(then.indexOf('Event before'))).toMatch(words)
  const log = plainText(await admin.get(paths.log({ key: old.keyId, type: 'KeySuperseded' })))
  expect(log).toMatch(words)
  expect(keyId).not.toBe(old.keyId)
})

describe('the form that rotates a key', () => {
  test('is linked from the key’s page, for admins alone', async () => {
    expect(await pageOf(old.keyId)).toContain(`href="${paths.rotateKey(old.keyId)}"`)
    const auditor = await signedIn(service, 'auditor')
    expect((await auditor.get(paths.key(old.keyId))).body).not.toContain(paths.rotateKey(old.keyId))
    expect((await auditor.get(paths.rotateKey(old.keyId))).status).toBe(403)
    expect((await auditor.post(paths.rotateKey(old.keyId), { overlap: '0', _key_id: 'abcdefgh' })).status).toBe(403)
    expect(keysOfCellar()).toHaveLength(1)
  })

  test('offers the four overlaps and no other, 24 h chosen', async () => {
    const { body } = await admin.get(paths.rotateKey(old.keyId))
    const choices = [...body.matchAll(/<input type="radio"[^>]*>/g)].map(([input]) => ({
      value: /value="([^"]*)"/.exec(input)?.[1],
      checked: input.includes('checked'),
    }))
    expect(choices.map(({ value }) => value)).toEqual(['0', '1h', '24h', '7d'])
    expect(choices).toHaveLength(rotationOverlapsMs.length)
    expect(choices.filter(({ checked }) => checked)).toEqual([{ value: '24h', checked: true }])
  })

  test('shows the new key once', async () => {
    const { answer, key, keyId } = await rotate('24h')
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toContain('no-store')
    expect(key).toStartWith(`clr_${keyId}_`)
    expect(answer.body.split(key)).toHaveLength(2)
    for (const path of [paths.key(keyId), paths.key(old.keyId), paths.keys(testCellar)]) {
      expect((await admin.get(path)).body).not.toContain(key)
    }
    expect((await service.post(validReading, key)).status).toBe(200)
  })

  test.each(rotationOverlapsMs.map(overlapTyped))(
    'offers nothing to send after a rotation with overlap %s',
    async (overlap) => {
      const { answer } = await rotate(overlap)
      expect(answer.status).toBe(201)
      for (const trap of ['curl', 'CELLARBOOK_KEY', '/api/v1/ingest', 'Waiting for', '/first-reading', '<details']) {
        expect([trap, answer.body.includes(trap)]).toEqual([trap, false])
      }
    },
  )

  test.each([
    ['0', 'The first reading with the new key stops the old key at once. A test reading counts too.'],
    [
      '1h',
      'After the first reading with the new key, the old key works for 1 hour more, then stops. A test reading counts too.',
    ],
    [
      '24h',
      'After the first reading with the new key, the old key works for 24 hours more, then stops. A test reading counts too.',
    ],
    [
      '7d',
      'After the first reading with the new key, the old key works for 7 days more, then stops. A test reading counts too.',
    ],
  ])('says after overlap %s when the old key ends, and what starts that', async (overlap, words) => {
    const { answer } = await rotate(overlap)
    expect(plainText(answer)).toContain(words)
    expect(plainText(answer)).toContain('A check does not. Until that first reading, nothing changes.')
    expect(plainText(answer)).toContain('To test it, check a reading: the device guide shows how.')
    expect(plainText(answer)).toContain(
      'Don’t send a test reading: the first reading with the new key decides when the old key stops.',
    )
    expect(plainText(answer)).not.toContain('its own expiry')
    expect(plainText(answer)).not.toContain('is suspended')
    expect(answer.body).toContain(`href="${paths.key(old.keyId)}"`)
    expect(answer.body.includes(`href="${paths.rotateKey(old.keyId)}"`)).toBe(overlap === '0')
  })

  test('says that the old key keeps its own expiry, and that it is suspended', async () => {
    await service.core.keys.setExpiry(old.keyId, service.clock.now() + 3_600_000, testAsker)
    await service.core.keys.suspend(old.keyId, '', testAsker)
    const words = plainText((await rotate('24h')).answer)
    expect(words).toContain('The old key never works past its own expiry, 2026-03-01 13:00:00 UTC')
    expect(words).toContain('The old key is suspended, so its devices are already refused.')
  })

  test.each([
    ['rotated the old one', (keys: Core['keys'], keyId: string) => keys.rotate(keyId, { overlapMs: 0 }, testAsker)],
    ['revoked the new one', (keys: Core['keys'], _: string, madeId: string) => keys.revoke(madeId, '', testAsker)],
  ])('says that the new key ends nothing when another admin has %s meanwhile', async (_, meanwhile) => {
    const busy = await startWithOperators({
      wrapCore: (core) => ({
        ...core,
        keys: {
          ...core.keys,
          rotate: async (...asked) => {
            const rotated = await core.keys.rotate(...asked)
            await meanwhile(core.keys, asked[0], rotated.ok ? rotated.value.state.keyId : '')
            return rotated
          },
        },
      }),
    })
    const { keyId } = await busy.createKey()
    const person = await signedIn(busy, 'admin')
    const _key_id = idIn(await person.get(paths.rotateKey(keyId)))
    const answer = await person.post(paths.rotateKey(keyId), { overlap: '0', _key_id })
    await busy.stop()
    expect(answer.status).toBe(201)
    expect(plainText(answer)).toContain('This key does not stop the old key')
    expect(plainText(answer)).not.toContain('at once')
    expect(answer.body).not.toContain('curl')
  })

  test('sent again makes no other key, and neither shows nor changes anything', async () => {
    const { sent, keyId } = await rotate('24h')
    const before = await eventsInLog()
    const again = await admin.post(paths.rotateKey(old.keyId), sent)
    expect([again.status, again.location]).toEqual([303, paths.keyShown(keyId)])
    expect([keysOfCellar().length, await eventsInLog()]).toEqual([2, before])
  })

  test('names the unused key that the second of two open forms replaced', async () => {
    const open = idIn(await admin.get(paths.rotateKey(old.keyId)))
    const first = await rotate('24h')
    expect(first.answer.body).not.toContain(replacedWords)
    const second = await rotate('24h', { _key_id: open })
    expect(second.answer.status).toBe(201)
    const words = plainText(second.answer)
    expect(words).toContain(
      `clr_${first.keyId}_… (2026-03-01 12:00:00 UTC, by ${emailOf.admin}). clr_${first.keyId}_… has not been used.`,
    )
    expect(words).toContain('It still works, but using it no longer stops the old key.')
    // What the page says must be true: the replaced key works, but its use does not stop the old key.
    expect((await service.post(validReading, first.key)).status).toBe(200)
    await service.untilFolded(first.keyId, 1)
    expect(endOf(old.keyId)).toBeNull()
    const third = await rotate('24h')
    expect(plainText(third.answer)).toContain(`clr_${second.keyId}_… (`)
    expect(plainText(third.answer)).not.toContain(`clr_${first.keyId}_…`)
  })

  test('names it also of two that are sent at the same moment', async () => {
    const ids = [1, 2].map(async () => idIn(await admin.get(paths.rotateKey(old.keyId))))
    const answers = await Promise.all((await Promise.all(ids)).map((_key_id) => rotate('24h', { _key_id })))
    const lastId = service.core.projections.keys.get(old.keyId)?.rotation?.successorId
    const [told, ...others] = answers.filter(({ answer }) => answer.body.includes(replacedWords))
    expect([told?.keyId, others]).toEqual([lastId, []])
    const replaced = answers.find(({ keyId }) => keyId !== lastId)
    expect(plainText(told?.answer)).toContain(`clr_${replaced?.keyId}_… (`)
  })

  test('names none that was used, or is revoked', async () => {
    const used = await rotate('24h')
    expect((await service.post(validReading, used.key)).status).toBe(200)
    await until(() => endOf(old.keyId) !== null)
    await service.core.keys.setExpiry(old.keyId, null, testAsker)
    const revoked = await rotate('24h')
    expect([revoked.answer.status, revoked.answer.body.includes(replacedWords)]).toEqual([201, false])
    await service.core.keys.revoke(revoked.keyId, '', testAsker)
    const last = await rotate('24h')
    expect([last.answer.status, last.answer.body.includes(replacedWords)]).toEqual([201, false])
  })

  test('shows the new key and names the replaced one although the log goes away', async () => {
    const inner = await openFreshLog()
    const log = faultyLog(inner)
    let isReplacing = false
    const broken = await startWithOperators({
      log,
      wrapCore: (core) => ({
        ...core,
        keys: {
          ...core.keys,
          rotate: async (...asked) => {
            const rotated = await core.keys.rotate(...asked)
            if (isReplacing) log.goAway()
            return rotated
          },
        },
      }),
    })
    const { keyId } = await broken.createKey()
    const person = await signedIn(broken, 'admin')
    const rotateOnce = async () => {
      const _key_id = idIn(await person.get(paths.rotateKey(keyId)))
      return { _key_id, answer: await person.post(paths.rotateKey(keyId), { overlap: '24h', _key_id }) }
    }
    const first = await rotateOnce()
    isReplacing = true
    const { _key_id, answer } = await rotateOnce()
    expect([answer.status, wholeKey.exec(answer.body)?.[0]]).toEqual([201, expect.stringContaining(_key_id)])
    expect(plainText(answer)).toContain(`clr_${first._key_id}_… (`)
    log.comeBack()
    await broken.stop()
    await inner.close()
  })

  test('needs the token of the page', async () => {
    const { answer } = await rotate('24h', { _csrf: 'wrong' })
    expect(answer.status).toBe(403)
    expect(keysOfCellar()).toHaveLength(1)
  })

  test('is shown again with a sentence at an unknown overlap', async () => {
    const before = await eventsInLog()
    for (const overlap of ['', '2h', '24', '-1h', '1d', '0s']) {
      const { answer, sent } = await rotate(overlap)
      expect([overlap, answer.status]).toEqual([overlap, 422])
      expect(answer.body).toContain('id="fault-overlap"')
      expect(idIn(answer)).toBe(sent._key_id)
    }
    const { answer } = await rotate('24h', { _key_id: '../4fGh7kL' })
    expect([answer.status, idIn(answer).length]).toEqual([422, 8])
    expect(await eventsInLog()).toBe(before)
  })

  test('says why a revoked, an expired and a superseded key can’t be rotated', async () => {
    const { key, keyId } = await rotate('24h')
    const _key_id = idIn(await admin.get(paths.rotateKey(old.keyId)))
    const sendOpenForm = () => admin.post(paths.rotateKey(old.keyId), { overlap: '24h', _key_id })
    const openForm = async () => {
      const { status, location } = await admin.get(paths.rotateKey(old.keyId))
      expect([status, location]).toEqual([303, paths.key(old.keyId)])
      return pageOf(old.keyId)
    }
    expect((await service.post(validReading, key)).status).toBe(200)
    await until(() => endOf(old.keyId) !== null)
    expect(await pageOf(old.keyId)).not.toContain(paths.rotateKey(old.keyId))
    expect(await openForm()).toContain(
      'This key was already rotated, and the new key is in use. Rotate the new key instead.',
    )
    const superseded = await sendOpenForm()
    expect([superseded.status, superseded.body]).toEqual([409, expect.stringContaining(keyId)])

    await service.core.keys.setExpiry(old.keyId, service.clock.now() + 2 * 86_400_000, testAsker)
    service.clock.advance(2 * 86_400_000 - 1)
    admin = await signedIn(service, 'admin')
    expect((await admin.get(paths.rotateKey(old.keyId))).status).toBe(200)
    service.clock.advance(1)
    expect(await openForm()).toContain('This key has expired. Set a later expiry first, then rotate the key.')
    expect((await sendOpenForm()).body).toContain('Set a later expiry first.')

    await service.core.keys.revoke(old.keyId, '', testAsker)
    expect(await openForm()).toContain('This key was already revoked at ')
    expect((await sendOpenForm()).body).toContain('which cannot be undone')
    expect(keysOfCellar()).toHaveLength(2)
  })

  test('answers not found for a key that is none', async () => {
    expect((await admin.get(paths.rotateKey('nowhere1'))).status).toBe(404)
    expect((await admin.post(paths.rotateKey('nowhere1'), { overlap: '0', _key_id: 'abcdefgh' })).status).toBe(404)
  })
})

describe('a rotated key', () => {
  test('names its successor and its end, and the new key names its predecessor', async () => {
    const { key, keyId } = await rotate('24h')
    const before = await pageOf(old.keyId)
    expect(before).toContain(`href="${paths.key(keyId)}"`)
    expect(before).toContain('stops 24 h after the first reading with the new key')
    expect(await pageOf(keyId)).toContain(`href="${paths.key(old.keyId)}"`)
    expect(await pageOf(keyId)).toContain('stops 24 h after the first reading with the new key')
    expect((await admin.get(paths.keys(testCellar))).body).toContain(
      `rotated: stops 24 h after the first reading with clr_${keyId}_…`,
    )

    expect((await service.post(validReading, key)).status).toBe(200)
    await until(() => endOf(old.keyId) !== null)
    expect(await pageOf(old.keyId)).toMatch(/stops <b><time.*The new key is in use since <time/s)
    expect(await pageOf(keyId)).toMatch(/stops <b><time/)
    service.clock.advance(86_400_000)
    admin = await signedIn(service, 'admin')
    expect(await pageOf(old.keyId)).toMatch(/stopped <time.*The new key is in use since <time/s)
    expect(await pageOf(keyId)).toMatch(/class="key-chain".*expired/s)
  })

  test('promises no end that can’t come, its successor being revoked unused, until another follows', async () => {
    const { keyId } = await rotate('1h')
    const listed = async () => (await admin.get(paths.keys(testCellar))).body
    const form = async () => (await admin.get(paths.rotateKey(old.keyId))).body.replace(/\s+/g, ' ')
    expect(await form()).toContain(`If nobody needs <code>clr_${keyId}_…</code>, revoke it.`)
    await service.core.keys.revoke(keyId, '', testAsker)
    expect(await pageOf(old.keyId)).toContain('keeps working: the new key was revoked before its first use.')
    expect(await listed()).toContain(`rotated: clr_${keyId}_… was revoked, so this key keeps working<`)
    expect(await pageOf(keyId)).toContain('keeps working: the new key was revoked before its first use.')
    expect(await form()).toContain('which was revoked before its first use. So')
    for (const page of [await pageOf(old.keyId), await listed(), await pageOf(keyId), await form()]) {
      expect(page).not.toMatch(/after the first reading with (the new key|this key|clr_)/)
      expect(page).not.toContain('If nobody needs')
    }
    await service.core.keys.setExpiry(old.keyId, service.clock.now() + 86_400_000, testAsker)
    expect(await pageOf(old.keyId)).toContain(
      'keeps working until it expires: the new key was revoked before its first use.',
    )

    await rotate('24h')
    expect(await pageOf(old.keyId)).toContain('stops 24 h after the first reading with the new key')
  })

  test('names the key that ends it after its successor was revoked unused', async () => {
    const { keyId } = await rotate('1h')
    const made = await service.core.keys.rotate(keyId, { overlapMs: 0 }, testAsker)
    if (!made.ok) throw new Error(`refused: ${made.refusal.kind}`)
    await service.core.keys.revoke(keyId, '', testAsker)
    const end = `stops 1 h after the first reading with clr_${made.value.state.keyId}_…`
    expect(await pageOf(old.keyId)).toContain(end)
    expect((await admin.get(paths.keys(testCellar))).body).toContain(`rotated: ${end}`)
    expect(await pageOf(keyId)).toContain(end)
    expect((await service.post(validReading, made.value.key)).status).toBe(200)
    await until(() => endOf(old.keyId) !== null)
    expect(await pageOf(old.keyId)).toMatch(/stops <b><time.*The new key is in use since <time/s)
  })

  test('is refused from the first reading with the new key, without an overlap', async () => {
    const { key } = await rotate('0')
    expect((await service.post(validReading, old.key)).status).toBe(200)
    expect((await service.post(validReading, key)).status).toBe(200)
    await until(() => endOf(old.keyId) !== null)
    const refused = await service.post(validReading, old.key)
    expect([refused.status, await refused.json()]).toEqual([401, { error: 'API key has expired', status: 401 }])
    expect((await service.post(validReading, key)).status).toBe(200)
  })

  test('has its rotation in its history', async () => {
    const { keyId } = await rotate('7d')
    const page = await pageOf(old.keyId)
    expect(page).toContain('KeyRotated')
    expect(page).toContain(`clr_${keyId}_…`)
    expect(page).toContain('The old key works for 7 days from the first reading with the new key.')
  })
})
