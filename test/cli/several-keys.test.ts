import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { KeysChange } from '../../src/actors/key/change-keys.ts'
import { openCore } from '../../src/actors/open-core.ts'
import type { KeySelection } from '../../src/cli/control/change-keys-operation.ts'
import { type Operation, perform } from '../../src/cli/control/operations.ts'
import type { End } from '../../src/cli/exit-codes.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { Line } from '../../src/cli/show/lines.ts'
import { anyKey } from '../../src/domain/search/key-filter.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { faultyLog } from '../support/logs/faulty-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { testAsker } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { until } from '../support/time/until.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const notCalled = (): never => {
  throw new Error('A command on keys needs none of this')
}

type Done = { readonly lines: readonly Line[]; readonly end: End }

/** `press 1`, `press 2` and so on. */
const opened = async (keys: number) => {
  const log = faultyLog(createMemoryLog())
  const core = await openCore({ log, clock: manualClock(), entropy: seededEntropy() })
  await core.cellars.create({ cellar: 'berlin', title: '' }, testAsker)
  const keyIds: string[] = []
  for (let made = 1; made <= keys; made += 1) {
    const key = { cellar: 'berlin', label: `press ${made}`, note: '', limit: null, expiresAt: null }
    const created = await core.keys.create(key, testAsker)
    if (created.ok) keyIds.push(created.value.state.keyId)
  }
  const context = { questions: core.questions, core: async () => core, linkUrl: String }
  const run = async (operation: Operation): Promise<Done> => {
    const lines: Line[] = []
    for (const answer = perform(operation, context); ; ) {
      const step = await answer.next()
      if (step.done) return { lines, end: step.value }
      lines.push(step.value)
    }
  }
  const change = (
    keys: KeySelection,
    wanted: KeysChange,
    options: { isDryRun?: boolean; isConfirmed?: boolean } = {},
  ) => run({ op: 'change_keys', keys, change: wanted, isDryRun: false, isConfirmed: false, ...options })
  const revoke = (keys: KeySelection, options = {}) => change(keys, { do: 'revoke', reason: '' }, options)
  const revoked = () => keyIds.filter((keyId) => core.projections.keys.get(keyId)?.revoked != null).length
  return { log, core, context, keyIds, run, change, revoke, revoked }
}

const all = { filter: { ...anyKey, words: ['press'] } }
const suspend = { do: 'suspend', reason: '' } as const

test('more than ten keys are revoked only with --yes, and --dry-run only lists them', async () => {
  const { revoke, revoked } = await opened(11)
  const unasked = await revoke(all)
  expect(unasked.end).toEqual({
    exitCode: 1,
    message:
      'Nothing was changed. 11 keys would be revoked, 0 of them used in the last hour. This cannot be undone. To see the keys, add --dry-run. To confirm, add --yes.',
  })
  const dry = await revoke(all, { isDryRun: true, isConfirmed: true })
  expect([dry.lines.length, dry.end.exitCode, revoked()]).toEqual([11, 0, 0])
  expect(dry.end.message).toStartWith('Nothing was changed. 11 keys would be revoked,')
  const confirmed = await revoke(all, { isConfirmed: true })
  expect([confirmed.lines.length, confirmed.end]).toEqual([11, { exitCode: 0, message: '11 keys revoked.' }])
  expect((await revoke({ filter: { ...all.filter, words: ['cork'] } })).end.message).toBe(
    'No key was found, so nothing was changed.',
  )
})

test('key revoke on a terminal shows the named keys, and asks before it revokes them', async () => {
  const { context, keyIds, revoked } = await opened(16)
  const typed = async (words: readonly string[], answer: boolean | null) => {
    let told = ''
    const write = (text: string) => {
      told += text
    }
    const ask = (question: string): boolean => {
      write(question)
      return answer === true
    }
    const exitCode = await runProgram(['key', ...words], {
      version: '0',
      environment: {},
      output: { write: async (text) => write(text), flush: async () => {} },
      screen: { write },
      now: () => 0,
      ...(answer === null ? {} : { ask }),
      perform: async (_, operation) => perform(operation, context),
      serve: notCalled,
      copyLog: notCalled,
      verifyLog: notCalled,
      backup: notCalled,
      checkBackup: notCalled,
      restore: notCalled,
      checkFiles: notCalled,
    })
    return [exitCode, told.includes('Revoke for ever?'), revoked(), told] as const
  }
  const [one = '', two = '', three = '', four = '', five = ''] = keyIds
  const [exitCode, isAsked, count, told] = await typed(['revoke', one], false)
  expect([exitCode, isAsked, count]).toEqual([1, true, 0])
  expect(told).toMatch(/label +press 1\n[\s\S]*last used +never\n[\s\S]*1 key would be revoked, 0 of them used/)
  const ran = async (words: readonly string[], answer: boolean | null) => (await typed(words, answer)).slice(0, 3)
  expect(await ran(['revoke', one], true)).toEqual([0, true, 1])
  expect(await ran(['revoke', one], true)).toEqual([0, false, 1])
  expect(await ran(['revoke', 'nobody00'], true)).toEqual([1, false, 1])
  expect(await ran(['revoke', two, '--dry-run'], false)).toEqual([0, false, 1])
  expect(await ran(['revoke', two, '--yes'], false)).toEqual([0, false, 2])
  expect(await ran(['revoke', three, '--json'], false)).toEqual([0, false, 3])
  expect(await ran(['revoke', four], null)).toEqual([0, false, 4])
  expect(await ran(['revoke', '--all-matching', '--find', 'press 12'], false)).toEqual([0, false, 5])
  expect(await ran(['suspend', five], false)).toEqual([0, false, 5])
  const others = keyIds.filter((keyId) => ![one, two, three, four].includes(keyId))
  expect(await ran(['revoke', ...others], true)).toEqual([0, true, 16])
})

test('key retire stops only old keys whose new key is in use', async () => {
  const { core, keyIds, change } = await opened(2)
  const [old = '', other = ''] = keyIds
  const rotated = await core.keys.rotate(old, { overlapMs: 3_600_000 }, testAsker)
  const next = rotated.ok ? rotated.value.state.keyId : ''
  const retire = (keyId: string) => change({ keyIds: [keyId] }, { do: 'retire' })
  const unused = '0 keys retired. 1 key left as before: without a new key that works and is in use.'
  for (const keyId of [old, other]) expect((await retire(keyId)).end).toEqual({ exitCode: 0, message: unused })
  const reading = { cellar: 'berlin', rack: 'rack-1', keg: 'temperature', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  await core.keys.accept(next, reading, '019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3')
  await until(() => core.projections.keys.get(old)?.rotation?.superseded != null)
  expect((await retire(old)).end).toEqual({ exitCode: 0, message: '1 key retired.' })
  expect(core.projections.keys.get(old)?.expiresAt).toBe(core.clock.now())
  expect((await retire('nobody00')).end.exitCode).toBe(1)
})

test('while counts are missing, a filter that needs them changes no key', async () => {
  const { run, revoke, revoked } = await opened(2)
  for (const need of [{ nearLimit: true }, { refusedToday: true }]) {
    const filter = { ...anyKey, ...need }
    const { lines, end } = await revoke({ filter }, { isConfirmed: true })
    expect([lines, end.exitCode, revoked()]).toEqual([[], 69, 0])
    expect(end.message).toStartWith('Nothing was changed. The readings of today are not all counted,')
    const list = await run({ op: 'list_keys', filter, sort: 'created', isReversed: false })
    expect([list.end.exitCode, list.end.message]).toEqual([69, expect.stringContaining('keys can be missing')])
  }
})

test('ten keys are revoked without --yes', async () => {
  const { revoke, revoked } = await opened(10)
  expect((await revoke(all)).end.exitCode).toBe(0)
  expect(revoked()).toBe(10)
})

test('keys that cannot change are neither counted nor refused if a filter finds them', async () => {
  const { core, keyIds, change, revoke } = await opened(12)
  for (const keyId of keyIds.slice(2)) await core.keys.revoke(keyId, '', testAsker)
  const dry = await revoke(all, { isDryRun: true })
  expect([dry.lines.length, dry.end]).toEqual([
    2,
    {
      exitCode: 0,
      message:
        'Nothing was changed. 2 keys would be revoked, 0 of them used in the last hour. This cannot be undone. 10 keys would stay as before: already revoked.',
    },
  ])
  const asked = [{ filter: all.filter }, { keyIds: keyIds.slice(1, 3) }, { keyIds: ['nobody00'] }]
  const codes: number[] = []
  for (const keys of asked)
    for (const isDryRun of [true, false]) codes.push((await change(keys, suspend, { isDryRun })).end.exitCode)
  expect(codes).toEqual([0, 0, 1, 1, 1, 1])
  expect((await revoke(all)).end).toEqual({
    exitCode: 0,
    message: '2 keys revoked. 10 keys left as before: already revoked.',
  })
})

test('a new expiry leaves out expired keys, unless they or their status are named', async () => {
  const { core, keyIds, change } = await opened(3)
  for (const keyId of keyIds.slice(1)) await core.keys.setExpiry(keyId, core.clock.now(), testAsker)
  const set = (keys: KeySelection) => change(keys, { do: 'change', changes: { expiresAt: null, note: 'seen' } })
  const ends = () => keyIds.map((keyId) => core.projections.keys.get(keyId)?.expiresAt === null)
  expect((await set(all)).end.message).toBe('1 key changed. 2 keys left as before: expired.')
  expect(ends()).toEqual([true, false, false])
  await set({ keyIds: keyIds.slice(1, 2) })
  expect(ends()).toEqual([true, true, false])
  await set({ filter: { ...all.filter, status: 'expired' } })
  expect(ends()).toEqual([true, true, true])
})

test('all keys are changed only with --yes, and a wrong value is told once', async () => {
  const { core, keyIds, change } = await opened(2)
  const suspendAll = (status: 'all' | 'active' | 'suspended', reason: string, isConfirmed = false) =>
    change({ filter: { ...anyKey, status } }, { do: 'suspend', reason }, { isConfirmed })
  for (const status of ['all', 'active'] as const) {
    const { exitCode, message } = (await suspendAll(status, '')).end
    expect([exitCode, message]).toEqual([1, expect.stringContaining('2 keys would be suspended')])
  }
  const wrong = await suspendAll('all', 'x'.repeat(301), true)
  expect([wrong.lines, wrong.end.exitCode]).toEqual([[], 1])
  expect(wrong.end.message).toStartWith('The reason')
  expect(keyIds.map((keyId) => core.projections.keys.get(keyId)?.suspended)).toEqual([null, null])
  expect((await suspendAll('all', '', true)).end).toEqual({ exitCode: 0, message: '2 keys suspended.' })
})

test('a refused key is a line of its own, and the others are changed', async () => {
  const { keyIds, change, revoke } = await opened(4)
  const [first = '', second = '', third = ''] = keyIds
  await revoke({ keyIds: [first] })
  await change({ keyIds: [second] }, suspend)
  const { lines, end } = await change({ keyIds: [first, second, third, 'nobody00', third] }, suspend)
  const told = lines.map((line) => (line.kind === 'unchanged_key' ? line.value : line.kind))
  expect(told.filter((one) => one === 'key')).toHaveLength(2)
  expect(told).toContainEqual({
    id: first,
    cellar: 'berlin',
    label: 'press 1',
    reason: 'The key is revoked, which cannot be undone. Create a new key instead.',
  })
  expect(told).toContainEqual({ id: 'nobody00', cellar: null, label: null, reason: expect.stringContaining('no key') })
  expect(end).toEqual({
    exitCode: 1,
    message: '1 key suspended. 1 key already so. 2 keys not changed, because refused.',
  })
})

test('a failing log ends the command with 69, and it counts the keys left', async () => {
  const { log, revoke, revoked } = await opened(40)
  log.failAppend({ fault: 'not_written', nth: 1 })
  const { end } = await revoke(all, { isConfirmed: true })
  expect(end.exitCode).toBe(69)
  expect(end.message).toMatch(/keys? not tried, because the command ended early\. To go on, repeat it\.$/)
  const again = await revoke({ filter: { ...all.filter, status: 'active' } }, { isConfirmed: true })
  expect([again.end.exitCode, revoked()]).toEqual([0, 40])
})

describe.each([true, false])('cellarbook key, with a service: %p,', (isServing) => {
  const folder = newFolder()
  let service: ServiceProcess | null = null
  const ids: string[] = []
  const run = (...words: string[]) => cellarbook(words, { DATA_DIR: folder.path })
  beforeAll(async () => {
    if (isServing) service = await startProcess(folder.path)
    await run('cellar', 'create', 'berlin')
    for (const label of ['Press, north', 'Press, south', 'Pump'])
      ids.push(textOf((await run('key', 'create', '--cellar', 'berlin', '--label', label, '--json')).lines[0], 'id'))
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  test('lists the keys that filters find, in the wanted order', async () => {
    const listed = async (...words: string[]) => {
      const ran = await run('key', 'list', '--json', ...words)
      expect(ran.exitCode).toBe(0)
      return ran.lines.map((line) => line['label'])
    }
    expect(await listed('--sort', 'label')).toEqual(['Press, north', 'Press, south', 'Pump'])
    expect(await listed('--sort', 'label', '--reverse')).toEqual(['Pump', 'Press, south', 'Press, north'])
    expect(await listed('--find', 'press south', '--unused', 'never', '--expiring', 'never')).toEqual(['Press, south'])
    expect(await listed('--unused', '30d')).toEqual([])
    expect((await run('key', 'list', '--rotation')).stderr).toContain('No key matches all these options.')
    expect((await run('key', 'list', '--cellar', 'nowhere')).exitCode).toBe(1)
  })

  test('changes several keys, and shows the refused ones with their reason', async () => {
    const [north = '', south = '', pump = ''] = ids
    const limited = await run('key', 'change', '--all-matching', '--find', 'press', '--limit', '7/10', '--json')
    expect(limited.lines.map(({ id, limit }) => ({ id, limit }))).toContainEqual({
      id: south,
      limit: { readings: 7, windowMs: 10_000 },
    })
    await run('key', 'revoke', pump)
    const suspended = await run('key', 'suspend', north, `clr_${south}_…`, pump)
    expect(suspended.exitCode).toBe(1)
    expect(suspended.stdout).toMatch(/Press, north +suspended[\s\S]*NOT CHANGED, BECAUSE\n.*Pump +The key is revoked/)
    expect(suspended.stderr).toBe('cellarbook: 2 keys suspended. 1 key not changed, because refused.\n')
    expect((await run('key', 'resume', '--all-matching', '--status', 'suspended')).exitCode).toBe(0)
    const rotated = await run('key', 'rotate', north, south)
    expect(rotated.stdout.match(/^key +clr_/gm)).toHaveLength(2)
    expect(rotated.stderr).toContain('Copy the key now.')
  })

  test('changes nothing if ids and --all-matching are mixed or missing', async () => {
    for (const words of [[], ['--status', 'active'], [...ids, '--all-matching'], [...ids, '--find', 'press']]) {
      const ran = await run('key', 'suspend', ...words)
      expect([ran.exitCode, ran.stdout]).toEqual([64, ''])
      expect(ran.stderr).toStartWith('cellarbook: Nothing was changed:')
    }
  })
})
