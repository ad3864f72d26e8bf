import { afterEach, describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import { ChangeRuns, changesKeptMax } from '../../../../src/http/dashboard/forms/change-runs.ts'
import { paths } from '../../../../views/paths.ts'
import { emailOf } from '../../../support/test-operators.ts'
import { type Service, testAsker } from '../../../support/test-service.ts'
import { type Seen, signedIn, startWithOperators, type Visitor } from '../visitor.ts'

let service: Service
let admin: Visitor
let keyIds: string[]
afterEach(() => service.stop())

const opened = async (count: number, wrapCore?: (core: Core) => Core) => {
  service = await startWithOperators(wrapCore === undefined ? {} : { wrapCore })
  admin = await signedIn(service, 'admin')
  keyIds = []
  for (let made = 1; made <= count; made += 1) keyIds.push((await service.createKey({ label: `Press ${made}` })).keyId)
}

const textIn = ({ body }: Seen): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const hidden = ({ body }: Seen) =>
  Object.fromEntries(
    [...body.matchAll(/type="hidden" name="(_form|_confirmed)" value="([^"]*)"/g)].map((found) => [
      found[1],
      found[2] ?? '',
    ]),
  )
const found = (change: string, filter = '') => `${paths.changeKeys}?do=${change}&all=on${filter}`
const statesOf = () => keyIds.flatMap((keyId) => service.core.projections.keys.get(keyId) ?? [])

test('a form that is sent again with other values makes another change', async () => {
  await opened(2)
  const page = await admin.get(found('expiry'))
  const first = await admin.post(found('expiry'), { ...hidden(page), expires: '7d' })
  const second = await admin.post(found('expiry'), { ...hidden(page), expires: 'never' })
  expect(second.location).not.toBe(first.location)
  expect(statesOf().map(({ expiresAt }) => expiresAt)).toEqual([null, null])
  service.clock.advance(1_000)
  const again = await admin.post(found('expiry'), { ...hidden(page), expires: '7d' })
  expect(again.location).toBe(first.location)
})

test('a form without its id changes nothing', async () => {
  await opened(2)
  const { _form, ...rest } = hidden(await admin.get(found('suspend')))
  const answer = await admin.post(found('suspend'), rest)
  expect([answer.status, textIn(answer).includes('Suspend 2 keys of')]).toEqual([200, true])
  expect(statesOf().map(({ suspended }) => suspended)).toEqual([null, null])
})

test('a form that is sent twice at once makes one change, without a warning', async () => {
  await opened(60)
  const page = hidden(await admin.get(found('suspend', '&status=active')))
  const sent = () => admin.post(found('suspend', '&status=active'), page)
  const [one, two] = await Promise.all([sent(), sent()])
  expect([one.status, two.status, two.location]).toEqual([303, 303, one.location])
  const shown = textIn(await admin.get(one.location ?? ''))
  expect(shown).toContain('60 keys suspended')
  expect(shown).not.toContain('was not begun')
})

test('the page of a change names the operator who began it to the others', async () => {
  await opened(2)
  const page = hidden(await admin.get(found('rotate')))
  const { location } = await admin.post(found('rotate'), { ...page, overlap: '24h' })
  const other = textIn(await (await signedIn(service, 'auditor')).get(location ?? ''))
  expect(other).toContain('Another operator began this change')
  expect(other).toContain(`Only ${emailOf.admin} sees how far it is`)
  expect(other).not.toContain('rotate their old keys')
  const unknown = textIn(await admin.get(paths.keysChange('019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3')))
  expect(unknown).toContain('New keys of a rotation can still wait for the operator who began it')
})

test('an admin who becomes an auditor in the middle sees how far the change came', async () => {
  let calls = 0
  await opened(30, (core) => ({
    ...core,
    keys: {
      ...core.keys,
      rotate: async (keyId, rotating, asker) => {
        calls += 1
        if (calls === 5) await core.operators.setRole(emailOf.admin, 'auditor', testAsker)
        return core.keys.rotate(keyId, rotating, asker)
      },
    },
  }))
  await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
  const page = hidden(await admin.get(found('rotate')))
  const { location } = await admin.post(found('rotate'), { ...page, overlap: '24h' })
  const shown = await admin.get(location ?? '')
  const rotated = statesOf().filter(({ rotation }) => rotation !== null).length
  expect([shown.status, rotated < 30]).toEqual([200, true])
  expect(textIn(shown)).toContain(`${rotated} of 30 keys rotated`)
  expect(textIn(shown)).toContain('Only an admin can download them, and you are not an admin any more.')
  expect(textIn(shown)).not.toContain('Go on with the rest')
  expect((await admin.post(location ?? '', { format: 'csv' })).status).toBe(403)
})

describe('the new keys of a rotation', () => {
  const rotated = async (filter = '') => {
    const page = hidden(await admin.get(found('rotate', filter)))
    return admin.post(found('rotate', filter), { ...page, overlap: '24h' })
  }

  test('stay while many other changes are made, and bar another rotation', async () => {
    await opened(2)
    const { location } = await rotated()
    for (let made = 0; made < changesKeptMax + 2; made += 1) {
      const address = found(made % 2 === 0 ? 'suspend' : 'resume', '&status=all')
      const small = await admin.post(address, hidden(await admin.get(address)))
      expect(small.location).toStartWith(paths.keysChange(''))
    }
    const other = await rotated()
    expect(other.location).toBe(location)
    const shown = textIn(await admin.get(location ?? ''))
    expect(shown).toContain('The new rotation was not begun. First download the new keys of this one')
    expect(shown).toContain('Download the 2 new keys now')
    await admin.post(location ?? '', { format: 'csv' })
    expect((await rotated()).location).not.toBe(location)
  })

  test('are dropped after an hour', async () => {
    await opened(2)
    const timers: [ms: number, run: () => void][] = []
    const later = (ms: number, run: () => void) => {
      timers.push([ms, run])
      return () => {}
    }
    const noLines = { debug() {}, info() {}, warn() {}, error() {} }
    const runs = new ChangeRuns(service.core, noLines, { onEnd: () => {}, later })
    const change = { do: 'rotate', overlapMs: 0 } as const
    const wanted = { email: emailOf.admin, query: '', formId: '1', change, keyIds, came: [], gone: 0 }
    const { run, whole } = runs.begin({ ...wanted, asker: testAsker, mayGoOn: () => true })
    await whole
    expect([run.newKeys.length, timers.map(([ms]) => ms)]).toEqual([2, [3_600_000]])
    for (const [, end] of timers) end()
    expect([run.newKeys, run.newKeysEnd]).toEqual([[], { at: service.clock.now(), isTaken: false }])
  })
})

test('the confirmation of more than 100 keys says that they are changed one after another', async () => {
  await opened(101)
  const words = 'The keys are changed one after another, those used last first.'
  expect(textIn(await admin.get(found('suspend')))).toContain(words)
  await service.core.keys.suspend(keyIds[0] ?? '', '', testAsker)
  expect(textIn(await admin.get(found('suspend')))).not.toContain(words)
})
