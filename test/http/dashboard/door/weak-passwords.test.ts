import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { judgeOnThread, passwordJudgementMsMax } from '../../../../src/password-judge/judge-on-thread.ts'
import { passwordJudgedCharsMax } from '../../../../src/password-judge/weak-password-thread.ts'
import { systemSchedule } from '../../../../src/schedule.ts'
import { type HeldHasher, heldHasher } from '../../../support/held-hasher.ts'
import { emailOf, fromSomewhere, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { startWithOperators, visitor } from '../visitor.ts'

const faults: string[] = []
let hasher: HeldHasher
let service: Service

beforeAll(async () => {
  hasher = heldHasher()
  hasher.endAll()
  const passwordJudge = judgeOnThread({ schedule: systemSchedule, onFault: (why) => faults.push(why) })
  service = await startWithOperators({ passwordJudge, passwordHasher: hasher })
  await service.core.cellars.create({ cellar: 'wine-berlin', title: 'Riesling vault' }, testAsker)
})
afterAll(() => service.stop())

const email = 'grace.hopper@example.org'

const newLink = async ({ core } = service): Promise<string> => {
  const link = await core.operators.issueLink({ email, role: 'auditor' }, testAsker)
  if (!link.ok) throw new Error(link.refusal.kind)
  return `/link/${link.value.secret}`
}

const tooCommon = 'This password is easy to guess: many people use it'
const ofNames =
  'This password is easy to guess: it contains little besides your e-mail, the name Cellarbook, a role or the name of a cellar.'

const refused: readonly (readonly [password: string, words: string])[] = [
  ['password1234', tooCommon],
  ['P@ssw0rd1234', tooCommon],
  ['administrator', tooCommon],
  ['qwertyuiop12', tooCommon],
  ['1q2w3e4r5t6y', tooCommon],
  ['321drowssap321', tooCommon],
  ['aaaaaaaaaaaa', tooCommon],
  ['a'.repeat(200), tooCommon],
  ['abcdefghijklm', tooCommon],
  [email, ofNames],
  ['GraceHopper2026!', ofNames],
  ['hopper-grace', ofNames],
  ['example.org2026', ofNames],
  ['cellarbook123', ofNames],
  ['Cellarbook-admin', ofNames],
  ['C3llarb00k!2026', ofNames],
  ['koobrallec99', ofNames],
  ['wine-berlin1', ofNames],
  ['WineBerlin2026', ofNames],
  ['W1ne-Berl1n-2026', ofNames],
  ['rieslingvault1', ofNames],
  ['Berlin.Cellarbook.1', ofNames],
  ['Grace.Example.2026!', ofNames],
  ['c e l l a r b o o k', ofNames],
  ['auditor operator', ofNames],
  ['grace password 1', ofNames],
  ['hopper.letmein.12', ofNames],
  ['Example-Password-2026', ofNames],
  ['admin password 1', ofNames],
  ['berlin/welcome/99', ofNames],
  ['welcome password 1', tooCommon],
  ['monkey dragon master 1', tooCommon],
]

const accepted = [
  testPassword,
  'glacier tumble orbit pickle',
  'kumquat-otter-violin-sled',
  'x7Gq!pL0vZ2m',
  'password glacier tumble orbit',
  'the wine of berlin is better than cellarbook says',
  'добрый вечер ночной сторож',
  '🍇🛢️🍷 three signs and words',
  `${'glacier tumble orbit pickle '.repeat(18)}.`,
  'cellarbook tumble orbit pickle',
  'admin plays violin daily',
  'correct horse battery staple',
  'Berlin x7Gq!pL0vZ2m',
]

describe('the page of a link', () => {
  test('refuses a weak password at its field, and stays unspent', async () => {
    const path = await newLink()
    const person = visitor(service.url)
    expect((await person.get(path)).body).toContain('Do not use a common password')
    const begun = hasher.begun.length
    for (const [password, words] of refused) {
      const { status, body } = await person.post(path, { email: '', password })
      const fault = /id="fault-password"[^>]*>(.*?)<\/p>/s
        .exec(body)?.[1]
        ?.replaceAll(/<[^>]*>/g, '')
        .trim()
      expect([password, status, fault?.slice(0, words.length)]).toEqual([password, 422, words])
    }
    expect(hasher.begun).toHaveLength(begun)
    const said = JSON.stringify(service.lines)
    expect(refused.filter(([password]) => said.includes(password))).toEqual([])
    const right = { email: '', password: testPassword }
    expect((await person.post(path, right)).status).toBe(303)
    expect(faults).toEqual([])
  }, 600_000)

  test('takes every other password', async () => {
    for (const password of accepted) {
      const path = await newLink()
      const person = visitor(service.url)
      await person.get(path)
      const { status } = await person.post(path, { email: '', password })
      expect([password, status]).toEqual([password, 303])
      expect(hasher.begun).toContain(password)
    }
    expect(faults).toEqual([])
  }, 600_000)

  test('compares with the e-mail that the first operator types', async () => {
    const link = await service.core.operators.issueLink({ email: null, role: 'admin' }, testAsker)
    if (!link.ok) throw new Error(link.refusal.kind)
    const path = `/link/${link.value.secret}`
    const person = visitor(service.url)
    await person.get(path)
    const password = 'margaret-hamilton'
    const typed = { email: 'Margaret.Hamilton@example.org', password }
    expect((await person.post(path, typed)).body).toContain(ofNames)
  })
})

test('a password change refuses weak passwords, after the old one was right', async () => {
  const { operators } = service.core
  const begun = await operators.signIn({ email: emailOf.admin, password: testPassword }, fromSomewhere, 'request')
  if (!begun.ok) throw new Error(begun.refusal.kind)
  const { sessionSecret } = begun.value
  const change = (ownPassword: string, newPassword: string) =>
    operators.changePassword({ sessionSecret, ownPassword, newPassword }, fromSomewhere, 'request')
  expect(await change('wrong', 'ada@example.org')).toMatchObject({ refusal: { kind: 'wrong_own_password' } })
  const hashes = hasher.begun.length
  expect(await change(testPassword, 'ada@example.org')).toMatchObject({
    refusal: { kind: 'invalid_field', field: 'password', rule: expect.stringContaining(ofNames) },
  })
  // Only the old password was hashed, to compare it. A weak new password costs no hash.
  expect(hasher.begun.slice(hashes)).toEqual([testPassword])
  expect(await change(testPassword, 'glacier tumble orbit pickle')).toMatchObject({ ok: true })
})

describe('a judgement', () => {
  const judge = judgeOnThread({ schedule: systemSchedule, onFault: (why) => faults.push(why) })
  const context = { email, names: [] }

  test('looks at the first characters of a long password', async () => {
    const dull = 'a'.repeat(passwordJudgedCharsMax)
    expect(await judge(`${dull}x7Gq!pL0vZ2m`, context)).toBe('common')
    expect(await judge(`x7Gq!pL0vZ2m${dull}`, context)).toBeNull()
  })

  test('waits for the end of its thread, so no hash runs beside it', async () => {
    let hasEnded = false
    const { Worker: Real } = globalThis
    globalThis.Worker = class extends Real {
      constructor(...begin: ConstructorParameters<typeof Real>) {
        super(...begin)
        this.addEventListener('close', () => {
          hasEnded = true
        })
      }
    }
    try {
      expect(await judge('password1234', context)).toBe('common')
      expect(hasEnded).toBe(true)
    } finally {
      globalThis.Worker = Real
    }
  })

  test('leaves no timer behind when no thread can be made', async () => {
    const schedule = drivenSchedule()
    const { Worker: Real } = globalThis
    globalThis.Worker = class extends Real {
      constructor() {
        super('data:text/javascript,')
        throw new TypeError('Failed to spawn worker thread')
      }
    }
    try {
      const judgement = judgeOnThread({ schedule, onFault: () => {} })('cellarbook tumble orbit', context)
      await expect(judgement).rejects.toThrow('Failed to spawn worker thread')
      await schedule.advance(passwordJudgementMsMax)
    } finally {
      globalThis.Worker = Real
    }
  })

  test('that throws hides the message, which could quote the password', async () => {
    const thread = new Worker(new URL('../../../../src/password-judge/weak-password-thread.ts', import.meta.url).href)
    const answer = Promise.withResolvers<unknown>()
    thread.onmessage = ({ data }) => answer.resolve(data)
    thread.onerror = ({ message }) => answer.resolve(message)
    thread.postMessage({ password: testPassword, context: { email: null, names: [] } })
    expect(await answer.promise).toBe('failed')
    thread.terminate()
  })

  const threadOf = (program: string): URL => new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  const broken: readonly (readonly [how: string, thread: URL, why: string])[] = [
    ['does not begin', threadOf('throw new Error("no module")'), 'the thread failed'],
    ['fails', threadOf('self.onmessage = () => self.postMessage("failed")'), 'the judgement threw an error'],
    ['ends', threadOf('self.onmessage = () => process.exit()'), 'the thread ended without an answer'],
    ['never ends', threadOf('self.onmessage = () => { for (;;); }'), 'the thread had not ended after'],
  ]
  for (const [how, thread, why] of broken) {
    test(`whose thread ${how} is made by the names alone, and told`, async () => {
      const schedule = drivenSchedule()
      const told: string[] = []
      const byNames = judgeOnThread({ schedule, onFault: (fault) => told.push(fault), thread })
      const judgements = async () => [
        await byNames('gracehopper2026', context),
        await byNames('Cellar-Book-2026', context),
        await byNames('password1234', context),
        await byNames('cellarbook tumble orbit', context),
      ]
      const judged = judgements()
      if (how === 'never ends') for (let at = 0; at < 2; at += 1) await schedule.advance(passwordJudgementMsMax)
      expect(await judged).toEqual(['names', 'names', null, null])
      // The first two passwords contain names, so they never reach the broken thread. Only the other two report a fault.
      expect(told).toHaveLength(2)
      for (const fault of told) expect(fault).toStartWith(why)
    })
  }
})
