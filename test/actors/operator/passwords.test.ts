import { describe, expect, spyOn, test } from 'bun:test'
import { createProjections } from '../../../projections/projections.ts'
import { ActorContext } from '../../../src/actors/actor-context.ts'
import type { PasswordClient } from '../../../src/actors/core-interface.ts'
import {
  judgeByNames,
  knownPasswordsWaitingMax,
  type PasswordHasher,
  type PasswordJudge,
  Passwords,
  passwordCellarsMax,
  passwordsWaitingMax,
  passwordsWaitingPerNetworkMax,
} from '../../../src/actors/operator/passwords.ts'
import { type CellarState, noPolicy } from '../../../src/domain/cellar.ts'
import { refused } from '../../../src/domain/refusal.ts'
import { heldHasher } from '../../support/held-hasher.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { testPassword } from '../../support/test-operators.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

const start = (hasher: PasswordHasher, judge: PasswordJudge = judgeByNames) => {
  const bugs: unknown[] = []
  const schedule = drivenSchedule()
  const context = new ActorContext({
    log: createMemoryLog(),
    clock: manualClock(),
    entropy: seededEntropy(),
    schedule,
    projections: createProjections(),
    onBug: (bug) => bugs.push(bug),
  })
  return { context, bugs, quiet: schedule.quiet, passwords: new Passwords(context, hasher, judge) }
}

const cellarOf = (at: number): CellarState => {
  const by = { kind: 'cli' } as const
  return {
    cellar: `c-${at}`,
    title: 'Vault',
    policy: noPolicy,
    units: new Map(),
    silence: [],
    createdAt: 0,
    createdBy: by,
    revision: 0,
  }
}

const stranger = (network: string): PasswordClient => ({ network, isKnown: false })
const known = (network: string): PasswordClient => ({ network, isKnown: true })
const busy = refused({ kind: 'busy' } as const)

describe('Passwords', () => {
  test('hashes one at a time: known clients first, then networks in turn', async () => {
    const hasher = heldHasher()
    const { passwords, quiet } = start(hasher)
    const ask = (password: string, client: PasswordClient) => passwords.matches(password, 'hash', client)
    const answers = [
      ask('flood 1', stranger('a')),
      ask('flood 2', stranger('a')),
      ask('flood 3', stranger('a')),
      ask('stranger', stranger('b')),
      passwords.hash({ email: 'ada@example.org', password: 'known' }, known('a')),
      ask(testPassword, known('b')),
    ]
    for (const _ of answers) {
      await quiet()
      expect(hasher.underWay).toBe(1)
      hasher.endOne()
    }
    expect(hasher.begun).toEqual(['flood 1', 'known', testPassword, 'flood 2', 'stranger', 'flood 3'])
    const values = (await Promise.all(answers)).map((answer) => answer.ok && answer.value)
    expect(values).toEqual([false, false, false, false, 'hash of known', true])
    expect(passwords.isIdle).toBe(true)
  })

  test('bounds the waiting requests of one network', async () => {
    for (const client of [stranger('a'), known('a')]) {
      const hasher = heldHasher()
      const { passwords } = start(hasher)
      const answers = Array.from({ length: passwordsWaitingPerNetworkMax + 2 }, () =>
        passwords.matches(testPassword, 'hash', client),
      )
      expect(await answers.at(-1)).toEqual(busy)
      hasher.endAll()
      expect((await Promise.all(answers)).filter(({ ok }) => ok)).toHaveLength(passwordsWaitingPerNetworkMax + 1)
    }
  })

  test('bounds waiting strangers and waiting known clients separately', async () => {
    const hasher = heldHasher()
    const { passwords } = start(hasher)
    const ask = (client: PasswordClient) => passwords.matches(testPassword, 'hash', client)
    const strangers = Array.from({ length: passwordsWaitingMax + 2 }, (_, at) => ask(stranger(String(at))))
    const knownOnes = Array.from({ length: knownPasswordsWaitingMax + 1 }, (_, at) => ask(known(String(at))))
    expect(await Promise.all([strangers.at(-1), knownOnes.at(-1)])).toEqual([busy, busy])
    hasher.endAll()
    const answered = await Promise.all([...strangers, ...knownOnes])
    expect(answered.filter(({ ok }) => ok)).toHaveLength(1 + passwordsWaitingMax + knownPasswordsWaitingMax)
  })

  test('hashes nothing for a client that has gone, and reuses its place', async () => {
    const hasher = heldHasher()
    const { passwords, quiet } = start(hasher)
    const gone = new AbortController()
    const client = { ...stranger('a'), signal: gone.signal }
    const ask = (password: string, from: PasswordClient) => passwords.matches(password, 'hash', from)
    const first = ask('first', stranger('b'))
    const givenUp = Array.from({ length: passwordsWaitingPerNetworkMax }, () => ask('given up', client))
    expect(await ask('too many', stranger('a'))).toEqual(busy)
    gone.abort()
    const next = ask('next', stranger('a'))
    expect(await Promise.all(givenUp)).toEqual(givenUp.map(() => busy))
    const late = new AbortController()
    const goneInTurn = ask('gone in turn', { ...stranger('c'), signal: late.signal })
    late.abort()
    hasher.endAll()
    expect(await Promise.all([first, next])).toMatchObject([{ ok: true }, { ok: true }])
    expect(await goneInTurn).toEqual(busy)
    await quiet()
    expect(hasher.begun).toEqual(['first', 'next'])
    expect(passwords.isIdle).toBe(true)
  })

  test('answers overdue requests, and begins no second hash meanwhile', async () => {
    const hasher = heldHasher()
    const { context, passwords, quiet } = start(hasher)
    const ask = (client: PasswordClient) => passwords.matches(testPassword, 'hash', client)
    const overdue = [ask(stranger('a')), ask(stranger('b')), ask(known('c'))]
    context.beat = 1
    const inTime = ask(stranger('d'))
    passwords.answerOverdue(0)
    expect(await Promise.all(overdue)).toEqual([busy, busy, busy])
    await quiet()
    expect(hasher.begun).toHaveLength(1)
    expect(passwords.isIdle).toBe(false)
    hasher.endAll()
    expect(await inTime).toEqual({ ok: true, value: true })
    expect(hasher.begun).toHaveLength(2)
  })

  test('refuses all requests when it stops, also later ones', async () => {
    const hasher = heldHasher()
    const { passwords, quiet } = start(hasher)
    const ask = (client: PasswordClient) => passwords.matches(testPassword, 'hash', client)
    const answers = [ask(stranger('a')), ask(stranger('b')), ask(known('c'))]
    passwords.stop()
    answers.push(ask(known('d')))
    expect(await Promise.all(answers)).toEqual([busy, busy, busy, busy])
    hasher.endAll()
    await quiet()
    expect(hasher.begun).toHaveLength(1)
    expect(passwords.isIdle).toBe(true)
  })

  test('judges passwords one at a time, and never beside a hash', async () => {
    const hasher = heldHasher()
    const judgements: (() => void)[] = []
    const judge: PasswordJudge = () => new Promise((resolve) => judgements.push(() => resolve(null)))
    const { passwords, quiet } = start(hasher, judge)
    const answers = [
      passwords.matches('old', 'hash', known('a')),
      passwords.hash({ email: 'ada@example.org', password: 'first' }, known('b')),
      passwords.hash({ email: 'ada@example.org', password: 'second' }, known('c')),
    ]
    const steps: (readonly [judged: number, hashed: number])[] = []
    for (let step = 0; step < 5; step += 1) {
      await quiet()
      steps.push([judgements.length, hasher.underWay])
      if (hasher.underWay > 0) hasher.endOne()
      else judgements.shift()?.()
    }
    expect(steps).toEqual([
      [0, 1],
      [1, 0],
      [0, 1],
      [1, 0],
      [0, 1],
    ])
    expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual([true, true, true])
  })

  test('compares with the names of a bounded number of cellars', async () => {
    const judged: number[] = []
    const judge: PasswordJudge = async (_, { names }) => {
      judged.push(names.length)
      return null
    }
    const hasher = heldHasher()
    hasher.endAll()
    const { context, passwords } = start(hasher, judge)
    const many = Array.from({ length: passwordCellarsMax + 1 }, (_, at) => cellarOf(at))
    const list = spyOn(context.projections.cellars, 'list').mockReturnValue(many)
    await passwords.hash({ email: 'ada@example.org', password: 'new' }, known('a'))
    list.mockRestore()
    // A password must not contain names of cellars. Each cellar has two names for this check: its identifier and its title.
    expect(judged).toEqual([2 * passwordCellarsMax])
  })

  test('goes on after a bug, which rejects its request', async () => {
    const bug = new Error('a bug')
    const hasher: PasswordHasher = { hash: () => Promise.reject(bug), verify: () => Promise.resolve(true) }
    const { passwords, bugs } = start(hasher)
    const failed = passwords.hash({ email: 'ada@example.org', password: 'x' }, stranger('a'))
    const next = passwords.matches('x', 'hash', stranger('a'))
    expect(await failed.catch((thrown: unknown) => thrown)).toBe(bug)
    expect(await next).toEqual({ ok: true, value: true })
    expect(bugs).toEqual([bug])
  })
})
