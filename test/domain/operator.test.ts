import { describe, expect, test } from 'bun:test'
import type { RecordedEvent, Role } from '../../src/domain/events.ts'
import {
  type DecidedOperator,
  decideOperator,
  evolveOperator,
  type OperatorCommand,
  type OperatorEventType,
  type OperatorState,
} from '../../src/domain/operator.ts'
import {
  type DecidedSetup,
  decideSetup,
  evolveSetup,
  noSetup,
  type SetupCommand,
  type SetupEventType,
  type SetupState,
} from '../../src/domain/operator-setup.ts'
import { linksOpenMax, sessionsPerOperatorMax } from '../../src/limits.ts'

const start = Date.UTC(2026, 2, 1, 12)
const hour = 3_600_000
const email = 'ada@example.org'

const envelope = (revision: number, recordedAt: number) => ({
  id: `event-${revision}`,
  revision,
  position: revision + 1,
  recordedAt,
  metadata: { by: { kind: 'cli' as const }, requestId: 'r', correlationId: 'r', causationId: 'r' },
})

/** Decides the commands one after the other and folds what follows; a refusal is returned. */
const run = (
  commands: readonly OperatorCommand[],
  now = start,
  given: OperatorState | null = null,
): { readonly state: OperatorState | null; readonly last: readonly DecidedOperator[] | string } => {
  let state = given
  let last: readonly DecidedOperator[] | string = []
  for (const command of commands) {
    const decision = decideOperator(state, command, now)
    last = decision.ok ? decision.value : decision.refusal.kind
    if (decision.ok) for (const draft of decision.value) state = fold(state, draft, now)
  }
  return { state, last }
}

const fold = (state: OperatorState | null, draft: DecidedOperator, at = start): OperatorState => {
  const event: RecordedEvent<OperatorEventType> = {
    ...draft,
    ...envelope((state?.revision ?? -1) + 1, at),
    stream: 'operator-x',
  }
  return evolveOperator(state, event)
}

const issue = (linkHash: string, expiresAt = start + hour): OperatorCommand => ({
  type: 'IssueOperatorLink',
  email,
  role: 'auditor',
  linkHash,
  expiresAt,
})
const spend = (linkHash: string, passwordHash = 'p1'): OperatorCommand => ({
  type: 'SpendOperatorLink',
  email,
  linkHash,
  passwordHash,
})
const add: OperatorCommand = { type: 'AddOperator', email, role: 'admin', passwordHash: 'p0' }
const signIn = (sessionHash: string, passwordHash = 'p0', expiresAt = start + hour): OperatorCommand => ({
  type: 'SignIn',
  passwordHash,
  sessionHash,
  expiresAt,
})
const signOut = (sessionHash: string): OperatorCommand => ({ type: 'SignOut', sessionHash })

const sessionsOf = (state: OperatorState | null): readonly string[] =>
  state?.sessions.map(({ sessionHash }) => sessionHash) ?? []
const linksOf = (state: OperatorState | null): readonly string[] => state?.links.map(({ linkHash }) => linkHash) ?? []

describe('a link to one operator', () => {
  test('adds the operator with the role it was made for', () => {
    const { state, last } = run([issue('l1'), spend('l1')])
    expect(last).toEqual([{ type: 'OperatorAdded', data: { email, role: 'auditor', passwordHash: 'p1' } }])
    expect(state?.account).toEqual({ role: 'auditor', passwordHash: 'p1', addedAt: start })
  })

  test('works once, and takes all others of that operator with it', () => {
    const spent = [issue('l1'), issue('l2'), spend('l1')]
    expect(run([...spent, spend('l1', 'p2')]).last).toBe('link_invalid')
    expect(run([...spent, spend('l2', 'p2')]).last).toBe('link_invalid')
    expect(run([...spent, issue('l3'), issue('l4'), spend('l3', 'p2'), spend('l4', 'p3')]).last).toBe('link_invalid')
  })

  test('works until the millisecond before it expires', () => {
    const { state } = run([issue('l1', start + hour)])
    expect(run([spend('l1')], start + hour - 1, state).last).not.toBe('link_invalid')
    expect(run([spend('l1')], start + hour, state).last).toBe('link_invalid')
  })

  test('is refused when it is not known, and where nobody was invited', () => {
    expect(run([issue('l1'), spend('l2')]).last).toBe('link_invalid')
    expect(run([spend('l1')]).last).toBe('link_invalid')
  })

  test('to one who is there sets the password, ends every session, and changes no role', () => {
    const { state, last } = run([add, signIn('s1'), signIn('s2'), issue('l1'), spend('l1')])
    expect(last).toEqual([{ type: 'OperatorPasswordSet', data: { passwordHash: 'p1', linkHash: 'l1' } }])
    expect(state?.account).toEqual({ role: 'admin', passwordHash: 'p1', addedAt: start })
    expect(sessionsOf(state)).toEqual([])
  })

  test('says the role of the account, not the one asked for', () => {
    const { last } = run([add, issue('l1')])
    expect(last).toEqual([
      { type: 'OperatorLinkIssued', data: { email, role: 'admin', linkHash: 'l1', expiresAt: start + hour } },
    ])
  })

  test(`is one of at most ${linksOpenMax}: the oldest stops working`, () => {
    const links = Array.from({ length: linksOpenMax + 1 }, (_, index) => issue(`l${index}`))
    expect(linksOf(run(links).state)).toHaveLength(linksOpenMax)
    expect(run([...links, spend('l0')]).last).toBe('link_invalid')
    expect(run([...links, spend('l1')]).last).not.toBe('link_invalid')
  })

  test('is forgotten when another is made after it ran out', () => {
    const { state } = run([issue('l1', start + hour)])
    expect(linksOf(run([issue('l2', start + 3 * hour)], start + hour, state).state)).toEqual(['l2'])
  })
})

describe('a session', () => {
  test('is opened by the password that is set, and by no older one', () => {
    expect(run([add, signIn('s1')]).last).toEqual([
      { type: 'OperatorSignedIn', data: { sessionHash: 's1', expiresAt: start + hour } },
    ])
    expect(run([add, issue('l1'), spend('l1', 'p1'), signIn('s1', 'p0')]).last).toBe('wrong_credentials')
    expect(run([issue('l1'), signIn('s1', '')]).last).toBe('wrong_credentials')
    expect(run([signIn('s1')]).last).toBe('wrong_credentials')
  })

  test('ends when its operator signs out, alone and once', () => {
    const { state, last } = run([add, signIn('s1'), signIn('s2'), signOut('s1')])
    expect(last).toEqual([{ type: 'OperatorSignedOut', data: { sessionHash: 's1' } }])
    expect(sessionsOf(state)).toEqual(['s2'])
    expect(run([signOut('s1')], start, state).last).toEqual([])
    expect(run([signOut('s1')]).last).toEqual([])
  })

  test(`is one of at most ${sessionsPerOperatorMax}: the oldest ends, and the log says so`, () => {
    const full = [add, ...Array.from({ length: sessionsPerOperatorMax }, (_, index) => signIn(`s${index}`))]
    expect(run(full).state?.sessions).toHaveLength(sessionsPerOperatorMax)
    const { state, last } = run([...full, signIn('one more')])
    expect(last).toEqual([
      { type: 'OperatorSignedOut', data: { sessionHash: 's0' } },
      { type: 'OperatorSignedIn', data: { sessionHash: 'one more', expiresAt: start + hour } },
    ])
    expect(state?.sessions).toHaveLength(sessionsPerOperatorMax)
    expect(sessionsOf(state)).not.toContain('s0')
  })

  test('that has run out takes the place of none, and is forgotten at the next sign-in', () => {
    const full = [add, ...Array.from({ length: sessionsPerOperatorMax }, (_, index) => signIn(`s${index}`))]
    const { state, last } = run([signIn('later', 'p0', start + 9 * hour)], start + hour, run(full).state)
    expect(last).toHaveLength(1)
    expect(sessionsOf(state)).toEqual(['later'])
  })
})

test('an operator is added once', () => {
  expect(run([add, add]).last).toBe('operator_exists')
  expect(run([issue('l1'), add]).last).toHaveLength(1)
})

const setRole = (role: Role, otherAdmins = 1): OperatorCommand => ({ type: 'SetOperatorRole', role, otherAdmins })
const remove = (otherAdmins = 1): OperatorCommand => ({ type: 'RemoveOperator', otherAdmins })

describe('a role', () => {
  test('changes, in open sessions too, and writes nothing where it is so already', () => {
    const { state, last } = run([add, signIn('s1'), setRole('auditor')])
    expect(last).toEqual([{ type: 'OperatorRoleChanged', data: { role: 'auditor' } }])
    expect(state?.account).toEqual({ role: 'auditor', passwordHash: 'p0', addedAt: start })
    expect(sessionsOf(state)).toEqual(['s1'])
    expect(run([setRole('auditor')], start, state).last).toEqual([])
    expect(run([setRole('admin', 0)], start, state).last).toHaveLength(1)
  })

  test('of the last admin stays', () => {
    expect(run([add, setRole('auditor', 0)]).last).toBe('last_admin')
    expect(run([add, setRole('admin', 0)]).last).toEqual([])
  })

  test('is changed of nobody who is not there', () => {
    expect(run([setRole('admin')]).last).toBe('operator_not_found')
    expect(run([issue('l1'), setRole('admin')]).last).toBe('operator_not_found')
    expect(run([add, remove(), setRole('admin')]).last).toBe('operator_not_found')
  })
})

describe('an operator who is removed', () => {
  test('has no session, no link and no password left, and is removed once', () => {
    const { state, last } = run([add, signIn('s1'), issue('l1'), remove()])
    expect(last).toEqual([{ type: 'OperatorRemoved', data: {} }])
    expect(state).toMatchObject({ account: null, sessions: [], links: [] })
    expect(run([signIn('s2')], start, state).last).toBe('wrong_credentials')
    expect(run([spend('l1')], start, state).last).toBe('link_invalid')
    expect(run([remove()], start, state).last).toEqual([])
  })

  test('is not the last admin', () => {
    expect(run([add, remove(0)]).last).toBe('last_admin')
    expect(run([issue('l1'), spend('l1'), remove(0)]).last).toHaveLength(1)
  })

  test('can be invited again, and removed again', () => {
    const { state } = run([add, remove(), issue('l2'), spend('l2', 'p2')])
    expect(state?.account).toEqual({ role: 'auditor', passwordHash: 'p2', addedAt: start })
    expect(run([remove()], start, state).last).toHaveLength(1)
  })

  test('does not come back by a set-up link, which is good for its e-mail until the operator is there', () => {
    expect(run([add, remove(), add]).last).toBe('operator_was_removed')
    expect(run([add, remove(), issue('l1'), add]).last).toBe('operator_was_removed')
  })

  test('may be one who was invited only, until the invitation runs out', () => {
    const { state } = run([issue('l1', start + hour)])
    const withdrawn = run([remove(0)], start + hour - 1, state)
    expect(withdrawn.last).toHaveLength(1)
    expect(linksOf(withdrawn.state)).toEqual([])
    expect(run([remove(0)], start + hour, state).last).toBe('operator_not_found')
    expect(run([remove()]).last).toBe('operator_not_found')
    expect(run([add], start, withdrawn.state).last).toHaveLength(1)
  })
})

test('a change of an operator who was never added is not folded', () => {
  expect(() => fold(null, { type: 'OperatorSignedOut', data: { sessionHash: 's' } })).toThrow('was never added')
  expect(() => fold(null, { type: 'OperatorRoleChanged', data: { role: 'admin' } })).toThrow('was never added')
  expect(() => fold(null, { type: 'OperatorRemoved', data: {} })).toThrow('nobody was invited')
})

const runSetup = (
  commands: readonly SetupCommand[],
  now = start,
  given: SetupState = noSetup,
): { readonly state: SetupState; readonly last: readonly DecidedSetup[] | string } => {
  let state = given
  let last: readonly DecidedSetup[] | string = []
  for (const command of commands) {
    const decision = decideSetup(state, command, now)
    last = decision.ok ? decision.value : decision.refusal.kind
    if (!decision.ok) continue
    for (const draft of decision.value) {
      const event: RecordedEvent<SetupEventType> = {
        ...draft,
        ...envelope((state.revision ?? -1) + 1, now),
        stream: 'operator-setup',
      }
      state = evolveSetup(state, event)
    }
  }
  return { state, last }
}

const issueSetup = (linkHash: string, expiresAt = start + hour): SetupCommand => ({
  type: 'IssueSetupLink',
  role: 'admin',
  linkHash,
  expiresAt,
})
const spendSetup = (linkHash: string, by = email): SetupCommand => ({ type: 'SpendSetupLink', linkHash, email: by })

describe('a set-up link', () => {
  test('is spent on one e-mail, once', () => {
    const first = [issueSetup('l1'), spendSetup('l1')]
    expect(runSetup(first).last).toEqual([{ type: 'OperatorLinkUsed', data: { linkHash: 'l1', email } }])
    expect(runSetup([...first, spendSetup('l1', 'eve@example.org')]).last).toBe('link_invalid')
  })

  test('that was spent can be finished by the same e-mail, until it expires, and writes nothing again', () => {
    const { state } = runSetup([issueSetup('l1'), spendSetup('l1')])
    expect(runSetup([spendSetup('l1')], start + hour - 1, state).last).toEqual([])
    expect(runSetup([spendSetup('l1')], start + hour, state).last).toBe('link_invalid')
  })

  test('ends all others when it is spent, and links made later work again', () => {
    const spent = [issueSetup('l1'), issueSetup('l2'), spendSetup('l2')]
    expect(runSetup([...spent, spendSetup('l1')]).last).toBe('link_invalid')
    expect(runSetup([...spent, issueSetup('l3'), spendSetup('l3', 'bob@example.org')]).last).toHaveLength(1)
  })

  test('works until the millisecond before it expires', () => {
    const { state } = runSetup([issueSetup('l1', start + hour)])
    expect(runSetup([spendSetup('l1')], start + hour - 1, state).last).toHaveLength(1)
    expect(runSetup([spendSetup('l1')], start + hour, state).last).toBe('link_invalid')
  })

  test(`is one of at most ${linksOpenMax}: the oldest stops working`, () => {
    const links = Array.from({ length: linksOpenMax + 1 }, (_, index) => issueSetup(`l${index}`))
    expect(runSetup([...links, spendSetup('l0')]).last).toBe('link_invalid')
    expect(runSetup([...links, spendSetup('l1')]).last).toHaveLength(1)
  })

  test('is refused when it is not known', () => {
    expect(runSetup([spendSetup('l1')]).last).toBe('link_invalid')
  })
})
