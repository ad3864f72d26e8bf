import { describe, expect, test } from 'bun:test'
import type { By, RecordedEvent, Role } from '../../src/domain/events.ts'
import {
  type DecidedOperator,
  decideOperator,
  devicesPerOperatorMax,
  type EndedSessions,
  evolveOperator,
  linksToldMax,
  type OperatorCommand,
  type OperatorEventType,
  type OperatorState,
  sessionsPerOperatorMax,
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
import { linksOpenMax } from '../../src/limits.ts'

const start = Date.UTC(2026, 2, 1, 12)
const hour = 3_600_000
const email = 'ada@example.org'

const envelope = (revision: number, recordedAt: number, by: By = { kind: 'cli' }) => ({
  id: `event-${revision}`,
  revision,
  position: revision + 1,
  recordedAt,
  metadata: { by, requestId: 'r', correlationId: 'r', causationId: 'r' },
})

const run = (
  commands: readonly OperatorCommand[],
  now = start,
  given: OperatorState | null = null,
  by: By = { kind: 'cli' },
): { readonly state: OperatorState | null; readonly last: readonly DecidedOperator[] | string } => {
  let state = given
  let last: readonly DecidedOperator[] | string = []
  for (const command of commands) {
    const decision = decideOperator(state, command, now)
    last = decision.ok ? decision.value : decision.refusal.kind
    if (decision.ok) for (const draft of decision.value) state = fold(state, draft, now, by)
  }
  return { state, last }
}

const fold = (
  state: OperatorState | null,
  draft: DecidedOperator,
  at = start,
  by: By = { kind: 'cli' },
): OperatorState => {
  const event: RecordedEvent<OperatorEventType> = {
    ...draft,
    ...envelope((state?.revision ?? -1) + 1, at, by),
    stream: 'operator-x',
  }
  return evolveOperator(state, event)
}

const issue = (linkHash: string, expiresAt = start + hour): OperatorCommand => ({
  type: 'IssueOperatorLink',
  mayReset: true,
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
const add: OperatorCommand = {
  type: 'AddOperator',
  email,
  role: 'admin',
  passwordHash: 'p0',
  linkHash: 'l0',
  linkMadeBy: 'cli',
}
const newSession = (sessionHash: string, expiresAt = start + hour) => ({
  sessionHash,
  expiresAt,
  idleAt: start + hour / 2,
  deviceHash: `device of ${sessionHash}`,
  seenRevision: 4,
})
const signInCommand = (sessionHash: string) => ({
  type: 'SignIn' as const,
  passwordHash: 'p0',
  ...newSession(sessionHash),
})
const signIn = (sessionHash: string, passwordHash = 'p0', expiresAt = start + hour): OperatorCommand => ({
  type: 'SignIn',
  passwordHash,
  endsSessionHash: null,
  ...newSession(sessionHash, expiresAt),
})
const signOut = (sessionHash: string): OperatorCommand => ({ type: 'SignOut', sessionHash })

const sessionsOf = (state: OperatorState | null): readonly string[] =>
  state?.sessions.map(({ sessionHash }) => sessionHash) ?? []
const linksOf = (state: OperatorState | null): readonly string[] => state?.links.map(({ linkHash }) => linkHash) ?? []

describe('a link to one operator', () => {
  test('adds the operator with the role it was made for', () => {
    const { state, last } = run([issue('l1'), spend('l1')])
    expect(last).toEqual([
      {
        type: 'OperatorAdded',
        data: { email, role: 'auditor', passwordHash: 'p1', linkHash: 'l1', linkMadeBy: 'cli' },
      },
    ])
    expect(state?.account).toMatchObject({ role: 'auditor', passwordHash: 'p1', addedAt: start })
  })

  test('works once, and ends all other links of the operator', () => {
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

  test('is refused if it is unknown or the operator was never invited', () => {
    expect(run([issue('l1'), spend('l2')]).last).toBe('link_invalid')
    expect(run([spend('l1')]).last).toBe('link_invalid')
  })

  test('resets the password, ends every session, and keeps the role', () => {
    const { state, last } = run([add, signIn('s1'), signIn('s2'), issue('l1'), spend('l1')])
    expect(last).toEqual([
      { type: 'OperatorPasswordSet', data: { passwordHash: 'p1', linkHash: 'l1', linkMadeBy: 'cli' } },
    ])
    expect(state?.account).toMatchObject({ role: 'admin', passwordHash: 'p1', addedAt: start })
    expect(sessionsOf(state)).toEqual([])
  })

  test('has the role of the account, not the requested one', () => {
    const { last } = run([add, issue('l1')])
    expect(last).toEqual([
      {
        type: 'OperatorLinkIssued',
        data: { email, role: 'admin', linkHash: 'l1', expiresAt: start + hour, purpose: 'reset' },
      },
    ])
  })

  test(`is one of at most ${linksOpenMax}: the oldest stops working`, () => {
    const links = Array.from({ length: linksOpenMax + 1 }, (_, index) => issue(`l${index}`))
    expect(linksOf(run(links).state)).toHaveLength(linksOpenMax)
    expect(run([...links, spend('l0')]).last).toBe('link_invalid')
    expect(run([...links, spend('l1')]).last).not.toBe('link_invalid')
  })

  test('is forgotten at the next link after its expiry', () => {
    const { state } = run([issue('l1', start + hour)])
    expect(linksOf(run([issue('l2', start + 3 * hour)], start + hour, state).state)).toEqual(['l2'])
  })
})

describe('a session', () => {
  test('opens with the current password, and not with an older one', () => {
    expect(run([add, signIn('s1')]).last).toEqual([{ type: 'OperatorSignedIn', data: newSession('s1') }])
    expect(run([add, issue('l1'), spend('l1', 'p1'), signIn('s1', 'p0')]).last).toBe('wrong_credentials')
    expect(run([issue('l1'), signIn('s1', '')]).last).toBe('wrong_credentials')
    expect(run([signIn('s1')]).last).toBe('wrong_credentials')
  })

  test('ends at a sign-out, alone and once', () => {
    const { state, last } = run([add, signIn('s1'), signIn('s2'), signOut('s1')])
    expect(last).toEqual([{ type: 'OperatorSignedOut', data: { sessionHash: 's1' } }])
    expect(sessionsOf(state)).toEqual(['s2'])
    expect(run([signOut('s1')], start, state).last).toEqual([])
    expect(run([signOut('s1')]).last).toEqual([])
  })

  test(`is one of at most ${sessionsPerOperatorMax}: an event ends the oldest`, () => {
    const full = [add, ...Array.from({ length: sessionsPerOperatorMax }, (_, index) => signIn(`s${index}`))]
    expect(run(full).state?.sessions).toHaveLength(sessionsPerOperatorMax)
    const { state, last } = run([...full, signIn('one more')])
    expect(last).toEqual([
      { type: 'OperatorSignedOut', data: { sessionHash: 's0' } },
      { type: 'OperatorSignedIn', data: newSession('one more') },
    ])
    expect(state?.sessions).toHaveLength(sessionsPerOperatorMax)
    expect(sessionsOf(state)).not.toContain('s0')
  })

  test('does not count after its expiry, and is forgotten at the next sign-in', () => {
    const full = [add, ...Array.from({ length: sessionsPerOperatorMax }, (_, index) => signIn(`s${index}`))]
    const { state, last } = run([signIn('later', 'p0', start + 9 * hour)], start + hour, run(full).state)
    expect(last).toHaveLength(1)
    expect(sessionsOf(state)).toEqual(['later'])
  })
})

describe('a sign-in', () => {
  test('ends the earlier session of the browser, and no other', () => {
    const command: OperatorCommand = { ...signInCommand('s3'), endsSessionHash: 's1' }
    const { state, last } = run([add, signIn('s1'), signIn('s2'), command])
    expect(last).toEqual([
      { type: 'OperatorSignedOut', data: { sessionHash: 's1' } },
      { type: 'OperatorSignedIn', data: newSession('s3') },
    ])
    expect(sessionsOf(state)).toEqual(['s2', 's3'])
  })

  test('sets the time of the last sign-in', () => {
    const state = run([signIn('s1')], start + 5, run([add]).state).state
    expect(state?.account?.lastSignedInAt).toBe(start + 5)
  })
})

describe('a session that is used', () => {
  const renew = (sessionHash: string, idleAt: number): OperatorCommand => ({
    type: 'RenewSession',
    sessionHash,
    idleAt,
  })

  test('ends later, never earlier', () => {
    const { state, last } = run([add, signIn('s1'), renew('s1', start + hour / 2 + 1)])
    expect(last).toEqual([
      { type: 'OperatorSessionRenewed', data: { sessionHash: 's1', idleAt: start + hour / 2 + 1 } },
    ])
    expect(state?.sessions).toMatchObject([{ sessionHash: 's1', idleAt: start + hour / 2 + 1 }])
    expect(run([renew('s1', start + hour / 2 + 1)], start, state).last).toEqual([])
  })

  test('is not renewed once it has expired or ended', () => {
    const { state } = run([add, signIn('s1')])
    expect(run([renew('s1', start + 2 * hour)], start + hour - 1, state).last).toHaveLength(1)
    expect(run([renew('s1', start + 2 * hour)], start + hour, state).last).toEqual([])
    expect(run([signOut('s1'), renew('s1', start + 2 * hour)], start, state).last).toEqual([])
  })
})

describe('ending sessions', () => {
  const end = (which: EndedSessions): OperatorCommand => ({ type: 'EndSessions', which })
  const three = [add, ...['s1', 's2', 's3'].map((name) => signIn(name))]

  test('ends one session by its id, all but one, or all', () => {
    expect(sessionsOf(run([...three, end({ id: 's2' })]).state)).toEqual(['s1', 's3'])
    expect(sessionsOf(run([...three, end({ allBut: 's2' })]).state)).toEqual(['s2'])
    expect(sessionsOf(run([...three, end({ allBut: null })]).state)).toEqual([])
    expect(run([...three, end({ id: 's4' })]).last).toEqual([])
  })

  test('is refused for an unknown operator', () => {
    expect(run([issue('l1'), end({ allBut: null })]).last).toBe('operator_not_found')
  })
})

describe('a password that its operator changes', () => {
  const change = (oldPasswordHash: string, inSessionHash = 's1'): OperatorCommand => ({
    type: 'ChangePassword',
    inSessionHash,
    oldPasswordHash,
    passwordHash: 'p9',
    ...newSession('new'),
  })

  test('ends every session and opens one', () => {
    const { state, last } = run([add, signIn('s1'), signIn('s2'), issue('l1'), change('p0')])
    expect(last).toEqual([
      { type: 'OperatorPasswordSet', data: { passwordHash: 'p9', linkHash: null, linkMadeBy: null } },
      { type: 'OperatorSignedIn', data: newSession('new') },
    ])
    expect([sessionsOf(state), linksOf(state)]).toEqual([['new'], []])
    expect(state?.account?.passwordHash).toBe('p9')
  })

  test('stays if the given password is an older one', () => {
    expect(run([add, issue('l1'), spend('l1', 'p1'), change('p0')]).last).toBe('wrong_credentials')
    expect(run([add, remove(), change('p0')]).last).toBe('wrong_credentials')
  })

  test('stays if the session has ended', () => {
    expect(run([add, signIn('s1'), signIn('s2'), signOut('s1'), change('p0')]).last).toBe('session_has_ended')
  })
})

describe('known browsers', () => {
  const devicesOf = (state: OperatorState | null): readonly string[] => state?.account?.devices ?? []

  test('are those that signed in with the current password', () => {
    const { state } = run([add, signIn('s1'), signIn('s2'), signIn('s1')])
    expect(devicesOf(state)).toEqual(['device of s2', 'device of s1'])
    expect(devicesOf(run([issue('l1'), spend('l1', 'p1')], start, state).state)).toEqual([])
  })

  test(`are at most ${devicesPerOperatorMax}: the oldest is forgotten`, () => {
    const many = Array.from({ length: devicesPerOperatorMax }, (_, index) => signIn(`s${index}`))
    expect(devicesOf(run([add, ...many]).state)).toContain('device of s0')
    const { state } = run([add, ...many, signIn('one more')])
    expect(devicesOf(state)).toHaveLength(devicesPerOperatorMax)
    expect(devicesOf(state)).not.toContain('device of s0')
  })
})

describe('a link that somebody else made for an account', () => {
  const grace: By = { kind: 'operator', email: 'grace@example.org' }
  const issued = (linkHash: string, by: By, state: OperatorState | null) =>
    run([issue(linkHash)], start, state, by).state

  test('is kept with its maker and the time of its use', () => {
    const before = issued('l2', { kind: 'cli' }, issued('l1', grace, run([add]).state))
    const made = { madeAt: start, usedAt: null }
    expect(before?.account?.linksFromOthers).toEqual([
      { linkHash: 'l1', madeBy: 'grace@example.org', ...made },
      { linkHash: 'l2', madeBy: 'cli', ...made },
    ])
    const used = run([spend('l1', 'p1')], start + 7, before).state
    expect(used?.account?.linksFromOthers.map(({ usedAt }) => usedAt)).toEqual([start + 7, null])
  })

  test('is named in each session of its password, and of later passwords', () => {
    const spent = run(
      [spend('l1', 'p1'), signIn('s1', 'p1'), signIn('s2', 'p1')],
      start,
      issued('l1', grace, run([add]).state),
    )
    expect(spent.state?.sessions.map(({ linkMadeBy }) => linkMadeBy)).toEqual([
      'grace@example.org',
      'grace@example.org',
    ])
    const own: OperatorCommand = {
      type: 'ChangePassword',
      inSessionHash: 's1',
      oldPasswordHash: 'p1',
      passwordHash: 'p2',
      ...newSession('s3'),
    }
    const changed = run([own, signIn('s4', 'p2')], start, spent.state).state
    expect(changed?.sessions.map(({ linkMadeBy }) => linkMadeBy)).toEqual(['grace@example.org', 'grace@example.org'])
  })

  test('is named in the sessions of an operator who was removed and invited again', () => {
    const removed = run([add, remove()]).state
    const { state } = run([spend('l1', 'p1'), signIn('s1', 'p1')], start, issued('l1', grace, removed))
    expect(state?.sessions).toMatchObject([{ linkMadeBy: 'grace@example.org' }])
    expect(state?.account?.linksFromOthers).toMatchObject([{ madeBy: 'grace@example.org', usedAt: start }])
    const invited = run([spend('l1', 'p1'), signIn('s1', 'p1')], start, issued('l1', grace, null)).state
    expect(invited?.sessions).toMatchObject([{ linkMadeBy: null }])
  })

  test('is not named if the operator made it for the own account', () => {
    const own: By = { kind: 'operator', email }
    const { state } = run([spend('l1', 'p1'), signIn('s1', 'p1')], start, issued('l1', own, run([add]).state))
    expect(state?.account?.linksFromOthers).toEqual([])
    expect(state?.sessions).toMatchObject([{ linkMadeBy: null }])
  })

  test(`is one of the last ${linksToldMax} that are kept`, () => {
    const many = Array.from({ length: linksToldMax + 1 }, (_, index) => issue(`l${index}`))
    const told = run([add, ...many]).state?.account?.linksFromOthers.map(({ linkHash }) => linkHash)
    expect(told).toEqual(many.slice(1).map((_, index) => `l${index + 1}`))
  })
})

test('an operator is added once', () => {
  expect(run([add, add]).last).toBe('operator_exists')
  expect(run([issue('l1'), add]).last).toHaveLength(1)
})

const setRole = (role: Role, otherAdmins = 1): OperatorCommand => ({ type: 'SetOperatorRole', role, otherAdmins })
const remove = (otherAdmins = 1): OperatorCommand => ({ type: 'RemoveOperator', otherAdmins })

describe('a role', () => {
  test('changes in open sessions too, and writes no event for the same role', () => {
    const { state, last } = run([add, signIn('s1'), setRole('auditor')])
    expect(last).toEqual([{ type: 'OperatorRoleChanged', data: { role: 'auditor' } }])
    expect(state?.account).toMatchObject({ role: 'auditor', passwordHash: 'p0', addedAt: start })
    expect(sessionsOf(state)).toEqual(['s1'])
    expect(run([setRole('auditor')], start, state).last).toEqual([])
    expect(run([setRole('admin', 0)], start, state).last).toHaveLength(1)
  })

  test('stays for the last admin', () => {
    expect(run([add, setRole('auditor', 0)]).last).toBe('last_admin')
    expect(run([add, setRole('admin', 0)]).last).toEqual([])
  })

  test('is refused for an unknown operator', () => {
    expect(run([setRole('admin')]).last).toBe('operator_not_found')
    expect(run([issue('l1'), setRole('admin')]).last).toBe('operator_not_found')
    expect(run([add, remove(), setRole('admin')]).last).toBe('operator_not_found')
  })
})

describe('an operator who is removed', () => {
  test('keeps no session, link or password, and is removed once', () => {
    const { state, last } = run([add, signIn('s1'), issue('l1'), remove()])
    expect(last).toEqual([{ type: 'OperatorRemoved', data: {} }])
    expect(state).toMatchObject({ account: null, sessions: [], links: [] })
    expect(run([signIn('s2')], start, state).last).toBe('wrong_credentials')
    expect(run([spend('l1')], start, state).last).toBe('link_invalid')
    expect(run([remove()], start, state).last).toEqual([])
  })

  test('cannot be the last admin', () => {
    expect(run([add, remove(0)]).last).toBe('last_admin')
    expect(run([issue('l1'), spend('l1'), remove(0)]).last).toHaveLength(1)
  })

  test('can be invited again, and removed again', () => {
    const { state } = run([add, remove(), issue('l2'), spend('l2', 'p2')])
    expect(state?.account).toMatchObject({ role: 'auditor', passwordHash: 'p2', addedAt: start })
    expect(run([remove()], start, state).last).toHaveLength(1)
  })

  test('cannot come back with the set-up link', () => {
    expect(run([add, remove(), add]).last).toBe('operator_was_removed')
    expect(run([add, remove(), issue('l1'), add]).last).toBe('operator_was_removed')
  })

  test('may be an invited one, until the invitation expires', () => {
    const { state } = run([issue('l1', start + hour)])
    const withdrawn = run([remove(0)], start + hour - 1, state)
    expect(withdrawn.last).toHaveLength(1)
    expect(linksOf(withdrawn.state)).toEqual([])
    expect(run([remove(0)], start + hour, state).last).toBe('operator_not_found')
    expect(run([remove()]).last).toBe('operator_not_found')
    expect(run([add], start, withdrawn.state).last).toHaveLength(1)
  })
})

test('evolveOperator() throws for an operator who was never added', () => {
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
  test('works for one e-mail, once', () => {
    const first = [issueSetup('l1'), spendSetup('l1')]
    expect(runSetup(first).last).toEqual([{ type: 'OperatorLinkUsed', data: { linkHash: 'l1', email } }])
    expect(runSetup([...first, spendSetup('l1', 'eve@example.org')]).last).toBe('link_invalid')
  })

  test('works again for the same e-mail until its expiry, without an event', () => {
    const { state } = runSetup([issueSetup('l1'), spendSetup('l1')])
    expect(runSetup([spendSetup('l1')], start + hour - 1, state).last).toEqual([])
    expect(runSetup([spendSetup('l1')], start + hour, state).last).toBe('link_invalid')
  })

  test('ends all other links at its use, and later links work', () => {
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

  test('is refused if it is unknown', () => {
    expect(runSetup([spendSetup('l1')]).last).toBe('link_invalid')
  })
})
