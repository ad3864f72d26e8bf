import { expect, setDefaultTimeout, test } from 'bun:test'
import { openCore } from '../../src/actors/open-core.ts'
import { systemClock } from '../../src/clock.ts'
import { keyIdOf } from '../../src/domain/stream-names.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { pagesOfLog } from '../../src/log/pages-of-log.ts'
import { paths } from '../../views/paths.ts'
import { visitor } from '../http/dashboard/visitor.ts'
import { newFolder, startProcess } from '../support/cellarbook.ts'
import { openLogOf } from '../support/logs/engine.ts'
import { addOperators, emailOf, testPassword } from '../support/test-operators.ts'
import { testAsker } from '../support/test-service.ts'

setDefaultTimeout(600_000)

const keys = 1_000

const folderWithKeys = async () => {
  const folder = newFolder()
  const log = await openLogOf(folder.path)
  await addOperators(log, Date.now())
  const core = await openCore({ log, clock: systemClock, entropy: systemEntropy })
  await core.cellars.create({ cellar: 'berlin', title: '' }, testAsker)
  for (let made = 1; made <= keys; made += 1)
    await core.keys.create({ cellar: 'berlin', label: '', note: '', limit: null, expiresAt: null }, testAsker)
  await core.drain()
  await log.close()
  return folder
}

const address = `${paths.changeKeys}?do=revoke&all=on&cellar=berlin`
const hidden = (body: string) =>
  Object.fromEntries(
    [...body.matchAll(/name="(_form|_confirmed)" value="([^"]*)"/g)].map((one) => [one[1], one[2] ?? '']),
  )
const triedIn = (body: string): number => Number(/<progress max="\d+" value="(\d+)"/.exec(body)?.[1] ?? '-1')

test('kill -9 while many keys are revoked leaves none half revoked', async () => {
  const folder = await folderWithKeys()
  const killed = await startProcess(folder.path)
  const admin = visitor(killed.url)
  await admin.get(paths.signIn)
  await admin.post(paths.signIn, { email: emailOf.admin, password: testPassword, next: '' })
  const form = hidden((await admin.get(address)).body)
  const begun = await admin.post(address, { ...form, count: String(keys) })
  const page = begun.location ?? ''
  let tried = 0
  while (tried === 0) tried = triedIn((await admin.get(page)).body)
  expect(tried).toBeGreaterThan(0)
  killed.signal('SIGKILL')
  await killed.exited

  const service = await startProcess(folder.path)
  const again = visitor(service.url)
  for (const [name, value] of admin.cookies) again.cookies.set(name, value)
  const lost = await again.get(page)
  expect([lost.status, lost.body.includes('How far this change came is not known')]).toEqual([404, true])
  expect(lost.body).toContain(paths.found(page.split('/').at(-1) ?? ''))
  const first = await again.get(address)
  const left = Number(/Revoke ([\d,]+) keys/.exec(first.body)?.[1]?.replace(',', '') ?? '0')
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(keys)
  const rest = await again.post(address, { ...hidden(first.body), count: String(left) })
  while (triedIn((await again.get(rest.location ?? '')).body) >= 0);
  await service.stop()

  const log = await openLogOf(folder.path)
  const of = new Map<string, string[]>()
  for await (const events of pagesOfLog(log, { after: null, limit: 1_000 }))
    for (const { type, stream } of events)
      if (type === 'KeyRevoked' || type === 'ReadingsSealed') of.set(type, [...(of.get(type) ?? []), keyIdOf(stream)])
  await log.close()
  for (const type of ['KeyRevoked', 'ReadingsSealed'] as const) {
    expect(of.get(type)).toHaveLength(keys)
    expect(new Set(of.get(type)).size).toBe(keys)
  }
  folder.remove()
})
