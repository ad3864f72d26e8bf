import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openCore } from '../../src/actors/open-core.ts'
import { type Operation, perform } from '../../src/cli/control/operations.ts'
import { cellarbook, newFolder, type Ran, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { faultyLog } from '../support/logs/faulty-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { testAsker } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const cellar = 'wine-berlin'
const ways = [
  { way: 'with the service running', isServing: true },
  { way: 'without a service, on the log itself', isServing: false },
] as const

describe.each(ways)('cellarbook $way', ({ isServing }) => {
  const folder = newFolder()
  let service: ServiceProcess | null = null
  const run = (...words: string[]): Promise<Ran> => cellarbook(words, { DATA_DIR: folder.path })
  const json = async (...words: string[]): Promise<Readonly<Record<string, unknown>>> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stderr, ran.lines.length]).toEqual([0, '', 1])
    return { ...ran.lines[0] }
  }
  const refusal = async (exitCode: number, ...words: string[]): Promise<string> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stdout]).toEqual([exitCode, ''])
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
    return ran.stderr
  }
  const newKey = (...words: string[]) => json('key', 'create', '--cellar', cellar, ...words)
  const keyNow = async (id: string): Promise<Readonly<Record<string, unknown>>> => {
    const listed = await run('key', 'list', '--json')
    return { ...listed.lines.find((line) => line['id'] === id) }
  }

  beforeAll(async () => {
    if (isServing) service = await startProcess(folder.path)
    await json('cellar', 'create', cellar)
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  test('key change changes only the given settings and prints the key', async () => {
    const { key: _, ...created } = await newKey('--label', 'Press', '--note', 'yard', '--limit', '50/5')
    const id = textOf(created, 'id')
    const change = (...words: string[]) => json('key', 'change', id, ...words)
    expect(await change('--label', 'Pump')).toEqual({ ...created, label: 'Pump' })
    expect(await change('--note', '')).toEqual({ ...created, label: 'Pump', note: '' })
    const limit = { readings: 7, windowMs: 10_000 }
    const more = await change('--note', 'roof', '--limit', '7/10', '--expires-at', '2999-12-31')
    const changed = { ...created, label: 'Pump', note: 'roof', limit, expiresAt: '3000-01-01T00:00:00.000Z' }
    expect(more).toEqual(changed)
    expect(await keyNow(id)).toEqual(changed)
    const lifted = { ...changed, limit: { readings: 6_000, windowMs: 60_000 }, expiresAt: null }
    expect(await change('--limit', 'default', '--expires-at', 'never')).toEqual(lifted)
    const [from, to] = [Date.now(), Date.parse(textOf(await change('--expires-in', '12h'), 'expiresAt'))]
    expect(to).toBeGreaterThanOrEqual(from + 12 * 3_600_000)
    expect(to).toBeLessThanOrEqual(Date.now() + 12 * 3_600_000)

    const shown = await run('key', 'change', `clr_${id}_…`, '--label', 'Pump 2')
    expect([shown.exitCode, shown.stderr]).toEqual([0, ''])
    expect(shown.stdout).toMatch(/label +Pump 2\n/)
  })

  test('key change records who changed what, and writes a fence after taking a right', async () => {
    const id = textOf(await newKey('--label', 'Press', '--limit', '50/5'), 'id')
    await json('key', 'change', id, '--label', 'Pump', '--limit', '7/10', '--expires-in', '1d')
    const { lines } = await run('key', 'history', id, '--json')
    const rows = lines.slice(0, -1).map(({ type, by, changes }) => ({ type, by, changes }))
    const by = { kind: 'cli' }
    expect(rows).toMatchObject([
      { type: 'KeyCreated', by },
      { type: 'KeyRelabelled', by, changes: ['label: Press -> Pump'] },
      { type: 'KeyLimitChanged', by, changes: ['limit: 50/5 -> 7/10'] },
      { type: 'ReadingsFenced', by },
      { type: 'KeyExpirySet', by },
      { type: 'ReadingsFenced', by },
    ])
  })

  test('key change changes nothing if one setting is invalid', async () => {
    const { key: _, ...created } = await newKey('--label', 'Press', '--limit', '50/5')
    const id = textOf(created, 'id')
    expect(await refusal(64, 'key', 'change', id)).toContain('no change is given. Use --label')
    const past = await refusal(1, 'key', 'change', id, '--label', 'Pump', '--expires-at', '2020-01-01')
    expect(past).toContain('must be in the future. To stop the key now, revoke it.')
    const unborn = await refusal(1, 'key', 'create', '--cellar', cellar, '--expires-at', '2020-01-01')
    expect(unborn).toBe('cellarbook: The expiry must be in the future.\n')
    const blank = await refusal(1, 'key', 'change', id, '--label', ' ', '--limit', '7/10')
    expect(blank).toBe('cellarbook: The label must not be blank.\n')
    expect(await keyNow(id)).toEqual(created)
    expect(await refusal(1, 'key', 'change', 'nobody00', '--label', 'x')).toContain('no key with this id')
    await json('key', 'revoke', id)
    expect(await refusal(1, 'key', 'change', id, '--label', 'Pump')).toContain('which cannot be undone')
  })

  test('a shorter retention changes nothing without --yes and says which readings it deletes', async () => {
    const policy = (...words: string[]) => json('cellar', 'policy', cellar, ...words)
    const asked = (...words: string[]) => refusal(1, 'cellar', 'policy', cellar, ...words)
    const retentionMs = async () => (await policy())['policy']
    const begins = await asked('--retention', '90d', '--limit', '7/10')
    expect(begins).toContain(
      'Readings are kept for ever now. With a retention of 90d, readings of this cellar accepted before',
    )
    expect(begins).toContain('The last reading of each key is kept.')
    const [, at = ''] = /readings of this cellar accepted before (\S+Z) are deleted/.exec(begins) ?? []
    const dayMs = 86_400_000
    expect(Date.parse(at)).toBeLessThan(Date.now() - 90 * dayMs)
    expect(Date.parse(at)).toBeGreaterThan(Date.now() - 92 * dayMs)
    expect(begins).toContain('To confirm, add --yes.')
    expect(await retentionMs()).toMatchObject({ retentionMs: null, limit: null })

    expect(await policy('--retention', '90d', '--yes')).toMatchObject({ policy: { retentionMs: 90 * dayMs } })
    expect(await asked('--retention', '89d')).toContain(
      'Readings are kept for 90d now. With a retention of 89d, readings of this cellar',
    )
    expect(await retentionMs()).toMatchObject({ retentionMs: 90 * dayMs })
    // These changes delete no readings, so they need no `--yes`.
    expect(await policy('--retention', '90d', '--max-age', '1d')).toMatchObject({ policy: { retentionMs: 90 * dayMs } })
    expect(await policy('--retention', '91d')).toMatchObject({ policy: { retentionMs: 91 * dayMs } })
    expect(await policy('--retention', 'none')).toMatchObject({ policy: { retentionMs: null } })
  })
})

test('a new limit is in force when key change ends', async () => {
  const folder = newFolder()
  const service = await startProcess(folder.path)
  const run = (...words: string[]) => cellarbook([...words, '--json'], { DATA_DIR: folder.path })
  await run('cellar', 'create', cellar)
  const [created] = (await run('key', 'create', '--cellar', cellar, '--limit', '3/3600')).lines
  const [id, key] = [textOf(created, 'id'), textOf(created, 'key')]
  const post = async (): Promise<number> => {
    const response = await fetch(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ cellar, rack: 'r', keg: 'k', value: 1, timestamp: new Date().toISOString() }),
    })
    return response.status
  }
  expect([await post(), await post()]).toEqual([200, 200])
  await run('key', 'change', id, '--limit', '2/3600')
  expect(await post()).toBe(429)
  await run('key', 'change', id, '--limit', 'default')
  expect(await post()).toBe(200)
  await service.stop()
  folder.remove()
})

test('key change names its finished parts after an outage, and a repeat does the rest', async () => {
  const log = faultyLog(createMemoryLog())
  const core = await openCore({ log, clock: manualClock(), entropy: seededEntropy() })
  await core.cellars.create({ cellar, title: '' }, testAsker)
  const created = await core.keys.create({ cellar, label: 'Press', note: '', limit: null, expiresAt: null }, testAsker)
  if (!created.ok) throw new Error(created.refusal.kind)
  const { keyId } = created.value.state
  const changes = { label: 'Pump', note: 'roof', limit: { readings: 9_000, windowMs: 60_000 } }
  const context = { questions: core.questions, core: async () => core, linkUrl: String }
  const operation: Operation = {
    op: 'change_keys',
    keys: { keyIds: [keyId] },
    change: { do: 'change', changes },
    isDryRun: false,
    isConfirmed: false,
  }
  log.failAppend({ fault: 'not_written', nth: 2 })
  expect(await perform(operation, context).next()).toEqual({
    done: true,
    value: {
      exitCode: 69,
      message: expect.stringMatching(/^Changed: label, note\. Cannot change limit: The event log is unavailable/),
    },
  })
  expect(core.projections.keys.get(keyId)).toMatchObject({ label: 'Pump', limit: null })
  const again = await perform(operation, context).next()
  expect(again).toMatchObject({ done: false, value: { value: changes } })
  await core.drain()
})
