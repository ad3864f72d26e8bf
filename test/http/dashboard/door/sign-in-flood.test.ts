import { afterEach, expect, test } from 'bun:test'
import type { PasswordClient } from '../../../../src/actors/core-interface.ts'
import { requestWaitMsMax } from '../../../../src/actors/node.ts'
import { passwordsWaitingMax, passwordsWaitingPerNetworkMax } from '../../../../src/actors/operator/passwords.ts'
import { type CommandRefusal, refused } from '../../../../src/domain/refusal.ts'
import { signInAttemptsMax } from '../../../../src/http/dashboard/door/sign-in-throttle.ts'
import { heartbeatMs } from '../../../../src/limits.ts'
import { paths } from '../../../../views/paths.ts'
import { type HeldHasher, heldHasher } from '../../../support/held-hasher.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import type { Service, ServiceOptions } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { until } from '../../../support/time/until.ts'
import { startWithOperators, type Visitor, visitor } from '../visitor.ts'

type Asked = { readonly client?: PasswordClient }

let service: Service
let hasher: HeldHasher
/** Requests that have reached the queue of passwords. */
let asked: Asked[]
let refusal: CommandRefusal | null

const start = async (options: ServiceOptions = {}): Promise<void> => {
  hasher = heldHasher()
  asked = []
  refusal = null
  service = await startWithOperators({
    isDerived: false,
    ...options,
    passwordHasher: hasher,
    web: { trustedProxies: ['127.0.0.1'] },
    wrapCore: (core) => ({
      ...core,
      operators: {
        ...core.operators,
        changePassword: (input, from, requestId) => {
          asked.push(from)
          return core.operators.changePassword(input, from, requestId)
        },
        issueLink: (input, asker) => {
          if (input.own !== undefined) asked.push(input.own)
          return core.operators.issueLink(input, asker)
        },
        spendLink: (input, asker) => {
          asked.push(input)
          return core.operators.spendLink(input, asker)
        },
        signIn: (input, from, requestId) => {
          asked.push(from)
          return refusal === null ? core.operators.signIn(input, from, requestId) : Promise.resolve(refused(refusal))
        },
      },
    }),
  })
}
afterEach(() => service.stop())

const atPage = async (): Promise<Visitor> => {
  const person = visitor(service.url)
  await person.get('/sign-in', { 'X-Forwarded-For': '192.0.2.250', 'X-Forwarded-Proto': 'https' })
  return person
}

type Try = { readonly email: string; readonly password: string; readonly address: string }

const signIn = async (person: Visitor, { email, password, address }: Try): Promise<number> => {
  const headers = { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' }
  return (await person.post('/sign-in', { email, password, next: '' }, headers)).status
}

const admin = { email: emailOf.admin, password: testPassword, address: '192.0.2.1' }
const guess = (at: number, address: string): Try => ({ email: `${at}@x.org`, password: `guess ${at}`, address })
/** Each guess comes from another /64 network of the same /48 network. The queue bounds the passwords of a whole /48. */
const guessFromSite = (at: number): Try => guess(at, `2001:db8:1:${at.toString(16)}::1`)

/** Resolves as soon as all sign-ins are in the queue. Their answers come later. */
const queued = async (person: Visitor, tries: readonly Try[]): Promise<readonly Promise<number>[]> => {
  const before = asked.length
  const answers = tries.map((each) => signIn(person, each))
  await until(() => asked.length === before + tries.length)
  return answers
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

test('an unknown browser waits for two hashes of a flood from one /48', async () => {
  await start()
  const attacker = await atPage()
  const flood = await queued(attacker, upTo(200).map(guessFromSite))
  const [answer] = await queued(await atPage(), [admin])
  hasher.endAll()
  expect(await answer).toBe(303)
  expect(hasher.begun.indexOf(testPassword)).toBe(2)
  const statuses = await Promise.all(flood)
  expect(statuses.filter((status) => status === 401)).toHaveLength(passwordsWaitingPerNetworkMax + 1)
  expect(statuses.filter((status) => status === 503)).toHaveLength(199 - passwordsWaitingPerNetworkMax)
})

test('a known browser waits for one hash, though strangers of 64 networks fill the queue', async () => {
  await start()
  const known = await atPage()
  const entering = await queued(known, [admin])
  hasher.endOne()
  expect(await Promise.all(entering)).toEqual([303])
  await known.get('/cellars', { 'X-Forwarded-For': admin.address, 'X-Forwarded-Proto': 'https' })

  const attacker = await atPage()
  const flood = await queued(
    attacker,
    upTo(passwordsWaitingMax + 1).map((at) => guess(at, `198.51.100.${at}`)),
  )
  expect(await signIn(await atPage(), admin)).toBe(503)
  const [answer] = await queued(known, [{ ...admin, address: '198.51.100.1' }])
  hasher.endAll()
  expect(await answer).toBe(303)
  expect(hasher.begun.slice(1, 3)).toEqual(['guess 0', testPassword])
  expect(await Promise.all(flood)).toEqual(Array(passwordsWaitingMax + 1).fill(401))
})

const newPassword = 'another twelve characters'
test.each([
  ['a password change', paths.accountPassword, { own_password: testPassword, password: newPassword }, 303],
  [
    'a link to an account',
    paths.operatorLinks,
    { email: emailOf.auditor, role: 'auditor', own_password: testPassword },
    201,
  ],
] as const)('%s by a signed-in person waits for one hash of strangers', async (_, path, fields, status) => {
  await start()
  const person = await atPage()
  const headers = { 'X-Forwarded-For': admin.address, 'X-Forwarded-Proto': 'https' }
  const entering = await queued(person, [admin])
  hasher.endOne()
  expect(await Promise.all(entering)).toEqual([303])
  await person.get(paths.cellars, headers)
  const flood = await queued(
    await atPage(),
    upTo(passwordsWaitingMax + 1).map((at) => guess(at, `198.51.100.${at}`)),
  )
  const before = asked.length
  const answer = person.post(path, fields, headers)
  await until(() => asked.length > before)
  hasher.endAll()
  expect((await answer).status).toBe(status)
  expect(hasher.begun.slice(1, 3)).toEqual(['guess 0', testPassword])
  expect(await Promise.all(flood)).toEqual(Array(passwordsWaitingMax + 1).fill(401))
})

test('an attempt that was answered busy is traced but not counted', async () => {
  await start()
  const person = await atPage()
  const many = upTo(signInAttemptsMax).map((at) => ({ ...guess(at, '192.0.2.9'), email: emailOf.auditor }))
  const answers = await queued(person, many)
  hasher.endAll()
  const statuses = (await Promise.all(answers)).toSorted()
  const hashed = passwordsWaitingPerNetworkMax + 1
  expect(statuses).toEqual([...Array(hashed).fill(401), ...Array(signInAttemptsMax - hashed).fill(503)])
  const traced = service.lines.filter(({ facts }) => Reflect.get(facts, 'reason') === 'busy')
  expect(traced).toHaveLength(signInAttemptsMax - hashed)
  const left = []
  for (const each of many.slice(0, signInAttemptsMax - hashed + 1)) left.push(await signIn(person, each))
  expect(left).toEqual([...Array(signInAttemptsMax - hashed).fill(401), 429])
})

test('an attempt that met an outage of the store is not counted', async () => {
  await start()
  hasher.endAll()
  const person = await atPage()
  for (const kind of ['store_unavailable', 'not_confirmed', 'storage_full'] as const) {
    refusal = { kind }
    for (const _ of upTo(signInAttemptsMax)) expect(await signIn(person, admin)).toBe(503)
  }
  refusal = null
  expect(await signIn(person, admin)).toBe(303)
})

test('attempts at the same time are all counted before one is answered', async () => {
  await start()
  const person = await atPage()
  // Each address has its own share of the queue, so the queue takes all these guesses.
  const guesses = upTo(signInAttemptsMax).map((at) => ({ ...guess(at, `192.0.2.${at + 10}`), email: emailOf.admin }))
  const answers = await queued(person, guesses)
  expect(await signIn(person, { ...admin, address: '192.0.2.99' })).toBe(429)
  expect(hasher.begun).toHaveLength(1)
  hasher.endAll()
  expect(await Promise.all(answers)).toEqual(Array(signInAttemptsMax).fill(401))
})

test('a browser that left the queue causes no hash', async () => {
  await start()
  const person = await atPage()
  const [first] = await queued(person, [guess(0, '192.0.2.20')])
  const leaving = new AbortController()
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const page = await person.get('/sign-in', { 'X-Forwarded-For': '192.0.2.21', 'X-Forwarded-Proto': 'https' })
  const token = /name="_csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const given = fetch(`${service.url}/sign-in`, {
    method: 'POST',
    headers: { Cookie: cookie, 'X-Forwarded-For': '192.0.2.21', 'X-Forwarded-Proto': 'https' },
    body: new URLSearchParams({ _csrf: token, email: emailOf.admin, password: 'given up', next: '' }),
    signal: leaving.signal,
  }).catch(() => 'gone')
  await until(() => asked.length === 2)
  leaving.abort()
  expect(await given).toBe('gone')
  await until(() => asked[1]?.client?.signal?.aborted === true)
  const [last] = await queued(person, [guess(1, '192.0.2.22')])
  hasher.endAll()
  expect(await Promise.all([first, last])).toEqual([401, 401])
  expect(hasher.begun).toEqual(['guess 0', 'guess 1'])
})

test('an attempt that waits longer than five seconds is answered, and not counted', async () => {
  const schedule = drivenSchedule()
  await start({ schedule })
  const person = await atPage()
  const tries = upTo(passwordsWaitingPerNetworkMax).map((at) => ({ ...guess(at, '192.0.2.30'), email: emailOf.admin }))
  const answers = await queued(person, tries)
  await schedule.advance(requestWaitMsMax + 2 * heartbeatMs)
  expect(await Promise.all(answers)).toEqual(tries.map(() => 503))
  hasher.endAll()
  for (const each of upTo(signInAttemptsMax)) {
    expect(await signIn(person, { ...guess(each, '192.0.2.31'), email: emailOf.admin })).toBe(401)
  }
  await schedule.until(service.core.drain())
})

test('a drain answers every waiting sign-in', async () => {
  const schedule = drivenSchedule()
  await start({ schedule })
  const answers = await queued(
    await atPage(),
    upTo(3).map((at) => guess(at, `192.0.2.${at}`)),
  )
  await schedule.until(service.core.drain())
  expect(await Promise.all(answers)).toEqual([503, 503, 503])
  hasher.endAll()
})

test('a full queue of strangers does not keep out the holder of a link', async () => {
  await start()
  const link = await service.core.operators.issueLink(
    { email: emailOf.auditor, role: 'auditor' },
    { by: { kind: 'cli' }, requestId: 'test' },
  )
  if (!link.ok) throw new Error(link.refusal.kind)
  const holder = visitor(service.url)
  const headers = { 'X-Forwarded-For': '192.0.2.40', 'X-Forwarded-Proto': 'https' }
  const path = `/link/${link.value.secret}`
  await holder.get(path, headers)
  const attacker = await atPage()
  await queued(
    attacker,
    upTo(passwordsWaitingMax + 1).map((at) => guess(at, `198.51.100.${at}`)),
  )
  const spent = holder.post(path, { email: '', password: testPassword }, headers)
  await until(() => asked.length === passwordsWaitingMax + 2)
  hasher.endAll()
  expect((await spent).status).toBe(303)
  expect(hasher.begun.slice(0, 2)).toEqual(['guess 0', testPassword])
})
