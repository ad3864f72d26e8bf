import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { systemClock } from '../../src/clock.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { ensureLogCreated } from '../../src/log/log-identity.ts'
import { cellarbook, newFolder, program, type Ran, type ServiceProcess, startProcess } from '../support/cellarbook.ts'
import { openLogOf } from '../support/logs/engine.ts'
import { addOperators, emailOf } from '../support/test-operators.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const ways = [
  { way: 'with the service running', isServing: true },
  { way: 'without a service, on the log itself', isServing: false },
] as const

describe.each(ways)('cellarbook operator $way', ({ isServing }) => {
  const folder = newFolder()
  let service: ServiceProcess | null = null
  const run = (...words: string[]): Promise<Ran> => cellarbook(['operator', ...words], { DATA_DIR: folder.path })
  const json = async (...words: string[]): Promise<Ran> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    return ran
  }
  const refusal = async (...words: string[]): Promise<string> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
    return ran.stderr
  }

  beforeAll(async () => {
    const log = await openLogOf(folder.path)
    await ensureLogCreated(log, systemClock, systemEntropy)
    await addOperators(log, Date.now())
    await log.close()
    if (isServing) service = await startProcess(folder.path)
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  test('link needs an e-mail once there is an operator', async () => {
    for (const role of [[], ['--role', 'admin']]) {
      expect(await refusal('link', ...role)).toContain(`needs an e-mail: ${program} operator link --email`)
    }
  })

  test('link refuses a role that differs from the operator’s role', async () => {
    const link = ['link', '--email', emailOf.admin.toUpperCase()]
    expect((await json(...link)).lines).toMatchObject([{ role: 'admin' }])
    expect((await json(...link, '--role', 'admin')).lines).toMatchObject([{ role: 'admin' }])
    expect(await refusal(...link, '--role', 'auditor')).toContain('is an admin, and a link does not change the role')
    expect((await json('link', '--email', 'new@example.org')).lines).toMatchObject([{ role: 'auditor' }])
    expect((await json('link', '--email', 'new@example.org', '--role', 'admin')).lines).toMatchObject([
      { role: 'admin' },
    ])
  })

  test('list prints operators by e-mail, then invited people without a role', async () => {
    const addedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect((await json('list')).lines).toEqual([
      { email: emailOf.admin, role: 'admin', addedAt },
      { email: emailOf.auditor, role: 'auditor', addedAt },
      { email: 'new@example.org', role: null, addedAt: null, invitation: { role: 'admin', expiresAt: addedAt } },
    ])
    const { stdout } = await run('list')
    expect(stdout).toMatch(/^EMAIL\s+ROLE\s+ADDED\nada@example\.org\s+admin\s+\d/)
    expect(stdout).toMatch(/\nnew@example\.org\s+admin\s+invited, until \d{4}-.*Z\n$/)
  })

  test('role refuses invited people and says how to invite them with another role', async () => {
    const refused = await refusal('role', 'New@example.org', 'auditor')
    for (const said of ['is invited as an admin, but has not joined', 'operator remove', 'operator link --email'])
      expect(refused).toContain(said)
  })

  test('remove withdraws an invitation, which list then no longer prints', async () => {
    expect((await json('remove', 'new@example.org')).lines).toEqual([
      { email: 'new@example.org', role: null, addedAt: null },
    ])
    expect((await json('list')).lines).toHaveLength(2)
  })

  test('role and remove refuse to change the last admin, and say what to do', async () => {
    expect(await refusal('role', emailOf.admin, 'auditor')).toContain('This is the only admin')
    expect(await refusal('remove', emailOf.admin, '--yes')).toContain('Make another operator an admin first')
    expect(await refusal('role', 'nobody@example.org', 'admin')).toContain('There is no operator with this e-mail.')
    expect(await refusal('remove', 'nobody@example.org')).toContain('There is no operator with this e-mail.')
  })

  test('role makes an auditor an admin, and then the first admin may be removed', async () => {
    expect((await json('role', emailOf.auditor, 'admin')).lines).toMatchObject([
      { email: emailOf.auditor, role: 'admin' },
    ])
    expect((await json('role', emailOf.auditor, 'admin')).lines).toMatchObject([{ role: 'admin' }])
    expect((await json('role', emailOf.admin, 'auditor')).lines).toMatchObject([{ role: 'auditor' }])
  })

  test('remove takes away access, can be repeated, and allows a new invitation', async () => {
    const gone = { email: emailOf.admin, role: null, addedAt: null }
    const unconfirmed = await refusal('remove', emailOf.admin)
    expect(unconfirmed).toContain(`Nothing was changed. ${emailOf.admin} is an auditor with 0 open sessions.`)
    expect((await json('list')).lines).toHaveLength(2)
    expect((await json('remove', emailOf.admin, '--yes')).lines).toEqual([gone])
    expect((await json('remove', emailOf.admin, '--yes')).lines).toEqual([gone])
    expect((await json('list')).lines).toMatchObject([{ email: emailOf.auditor }])
    expect((await json('link', '--email', emailOf.admin)).lines).toMatchObject([{ role: 'auditor' }])
    const log = await cellarbook(['log', 'read', '--type', 'OperatorRemoved', '--json'], { DATA_DIR: folder.path })
    const removed = { data: {}, metadata: { by: { kind: 'cli' } } }
    expect(log.lines).toMatchObject([removed, removed])
  })

  test('role takes admin or auditor and nothing else, with exit code 64', async () => {
    const ran = await run('role', emailOf.auditor, 'owner')
    expect([ran.exitCode, ran.stdout]).toEqual([64, ''])
  })
})
