import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cellarbook, newFolder, type Ran, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const ways = [
  { way: 'with the service running', isServing: true },
  { way: 'without a service, on the log itself', isServing: false },
] as const

/** Nodes on EventStoreDB must be given one. */
const WEBHOOK_MASTER = Buffer.alloc(32, 1).toString('base64')

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

describe.each(ways)('cellarbook $way', ({ isServing }) => {
  const folder = newFolder()
  let service: ServiceProcess | null = null
  let keyId = ''
  const run = (...words: string[]): Promise<Ran> => cellarbook(words, { DATA_DIR: folder.path, WEBHOOK_MASTER })
  const json = async (...words: string[]): Promise<Ran> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    return ran
  }

  beforeAll(async () => {
    if (isServing) service = await startProcess(folder.path, { environment: { WEBHOOK_MASTER } })
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  test('cellar create prints the new cellar', async () => {
    const { lines } = await json('cellar', 'create', 'wine-berlin', '--title', 'Berlin')
    const policy = { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: null }
    const createdAt = expect.stringMatching(iso)
    expect(lines).toEqual([
      { cellar: 'wine-berlin', title: 'Berlin', keys: 0, createdAt, policy, units: {}, silence: [] },
    ])
  })

  test('cellar rename changes what people see, and nothing else', async () => {
    const { lines } = await json('cellar', 'rename', 'wine-berlin', 'Berlin, Mitte')
    expect(lines).toMatchObject([{ cellar: 'wine-berlin', title: 'Berlin, Mitte' }])
    const unknown = await run('cellar', 'rename', 'nowhere', 'x')
    expect([unknown.exitCode, unknown.stdout]).toEqual([1, ''])
  })

  test('cellar policy changes only the given settings, and shows all without any', async () => {
    const policyOf = async (...words: string[]) =>
      (await json('cellar', 'policy', 'wine-berlin', ...words)).lines[0]?.['policy']
    const dayMs = 86_400_000
    const limit = { readings: 7, windowMs: 10_000 }
    expect(await policyOf('--limit', '7/10', '--max-age', '30d')).toEqual({
      limit,
      readingAgeMsMax: 30 * dayMs,
      readingAheadMsMax: null,
      retentionMs: null,
    })
    const changed = { limit, readingAgeMsMax: null, readingAheadMsMax: 600_000, retentionMs: 365 * dayMs }
    expect(await policyOf('--max-age', 'none', '--max-ahead', '10m', '--retention', '365d', '--yes')).toEqual(changed)
    expect(await policyOf()).toEqual(changed)
    const { stdout } = await run('cellar', 'policy', 'wine-berlin')
    for (const shown of ['7/10', 'no maximum', '10m', '365d']) expect(stdout).toContain(shown)
    const lifted = { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: null }
    expect(await policyOf('--limit', 'none', '--max-ahead', 'none', '--retention', 'none')).toEqual(lifted)
  })

  test('cellar unit sets, changes and removes the unit of a keg name', async () => {
    const unitsAfter = async (keg: string, unit: string) =>
      (await json('cellar', 'unit', 'wine-berlin', keg, unit)).lines[0]?.['units']
    expect(await unitsAfter('temperature', '°C')).toEqual({ temperature: '°C' })
    expect(await unitsAfter('__proto__', 'bar')).toEqual(JSON.parse('{"temperature":"°C","__proto__":"bar"}'))
    expect((await run('cellar', 'policy', 'wine-berlin')).stdout).toContain('temperature: °C, __proto__: bar')
    expect(await unitsAfter('__proto__', '')).toEqual({ temperature: '°C' })
    const hidden = await run('cellar', 'unit', 'wine-berlin', 'temperature', '\u202eC')
    expect([hidden.exitCode, hidden.stdout]).toEqual([1, ''])
    expect(hidden.stderr).toContain('The unit must not contain hidden characters.')
    expect(await unitsAfter('temperature', ' ')).toEqual({})
    expect((await run('cellar', 'policy', 'wine-berlin')).stdout).toMatch(/units +none/)
  })

  test('cellar silence sets and removes when kegs count as silent', async () => {
    const silence = async (...rest: readonly string[]) =>
      (await json('cellar', 'silence', 'wine-berlin', ...rest)).lines[0]?.['silence']
    const ofRack = { rack: 'rack-1', keg: null, after: 7_200_000 }
    expect(await silence('2h', '--rack', 'rack-1')).toEqual([ofRack])
    expect(await silence('never', '--keg', 'door')).toEqual([ofRack, { rack: null, keg: 'door', after: 'never' }])
    expect((await run('cellar', 'policy', 'wine-berlin')).stdout).toContain('rack rack-1, all kegs: 2h')
    expect(await silence('usual', '--keg', 'door')).toEqual([ofRack])
    const short = await run('cellar', 'silence', 'wine-berlin', '59s')
    expect([short.exitCode, short.stderr]).toEqual([1, expect.stringContaining('must be from 1m to 365d')])
    expect((await run('cellar', 'silence', 'wine-berlin', 'soon')).stderr).toContain('Or give "never" or "usual"')
    expect(await silence('usual', '--rack', 'rack-1')).toEqual([])
  })

  test('attention says that nothing needs attention', async () => {
    const { stdout, stderr } = await run('attention')
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('Nothing needs attention.')])
    expect((await json('attention')).lines).toEqual([])
  })

  test('webhook makes, changes, tests and removes one, and prints its secret', async () => {
    const [made] = (await json('webhook', 'set', 'https://hooks.example/a', '--kinds', 'silent, backup_old')).lines
    const id = textOf(made, 'id')
    expect(made).toMatchObject({ url: 'https://hooks.example/a', kinds: ['silent', 'backup_old'], waiting: 0 })
    const changed = await json('webhook', 'set', 'http://127.0.0.1:1/', '--id', id)
    expect(changed.lines[0]).toMatchObject({ id, url: 'http://127.0.0.1:1/', kinds: [] })
    expect((await run('webhook', 'list')).stdout).toMatch(/127\.0\.0\.1:1\/ +all +not used yet +0 +never/)
    expect((await run('webhook', 'secret', id)).stdout).toMatch(/secret +whsec_[\w+/]+=*\n/)
    expect((await run('webhook', 'list', '--json')).stdout).not.toContain('whsec_')
    const tested = await run('webhook', 'test', id)
    expect([tested.exitCode, tested.stderr]).toEqual([1, expect.stringContaining('The test was not delivered.')])
    expect((await run('webhook', 'set', 'http://hooks.example/')).stderr).toContain('must begin with https://')
    expect((await run('webhook', 'set', 'https://hooks.example/', '--kinds', 'loud')).exitCode).toBe(64)
    expect((await run('webhook', 'test', id, '--json')).stdout).toContain('"state":"test failed"')
    expect((await json('webhook', 'remove', id)).lines).toMatchObject([{ id }])
    expect((await run('webhook', 'remove', id)).stderr).toContain('There is no webhook with this id.')
    expect((await run('webhook', 'list')).stderr).toContain('No webhooks yet.')
  })

  test('cellar policy refuses part of a day as retention, and an unknown cellar', async () => {
    const half = await run('cellar', 'policy', 'wine-berlin', '--retention', '36h')
    expect([half.exitCode, half.stdout]).toEqual([1, ''])
    expect(half.stderr).toContain('a whole number of days')
    expect((await run('cellar', 'policy', 'nowhere')).exitCode).toBe(1)
  })

  test('cellar create refuses a used identifier with one sentence and exit code 1', async () => {
    const ran = await run('cellar', 'create', 'wine-berlin', '--json')
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toBe(
      'cellarbook: A cellar with this identifier already exists. Open that cellar, or choose another identifier.\n',
    )
  })

  test('key create prints the key that devices send, once', async () => {
    const created = await json('key', 'create', '--cellar', 'wine-berlin', '--label', 'Rack 17', '--limit', '100/10')
    const [line] = created.lines
    keyId = textOf(line, 'id')
    const key = textOf(line, 'key')
    expect(key).toMatch(new RegExp(`^clr_${keyId}_[0-9A-Za-z]{49}$`))
    expect(line).toMatchObject({ cellar: 'wine-berlin', label: 'Rack 17', expiresAt: null, status: 'active' })
    expect(line).toMatchObject({ limit: { readings: 100, windowMs: 10_000 }, lastUsedAt: null })
    const everything = await Promise.all([json('key', 'list'), json('key', 'history', keyId), json('log', 'read')])
    for (const { stdout } of everything) expect(stdout).not.toContain(key.slice('clr_'.length + 9, -6))
  })

  test('key create takes an expiry as a duration, an instant or a day', async () => {
    const create = async (...words: string[]): Promise<string> => {
      const { lines } = await json('key', 'create', '--cellar', 'wine-berlin', ...words)
      return textOf(lines[0], 'expiresAt')
    }
    const before = Date.now() + 30 * 86_400_000
    const inThirtyDays = Date.parse(await create('--expires-in', '30d'))
    expect(inThirtyDays).toBeGreaterThanOrEqual(before)
    expect(inThirtyDays).toBeLessThanOrEqual(Date.now() + 30 * 86_400_000)
    expect(await create('--expires-at', '2999-12-31T12:00:00Z')).toBe('2999-12-31T12:00:00.000Z')
    expect(await create('--expires-at', '2999-12-31')).toBe('3000-01-01T00:00:00.000Z')
  })

  test('key list prints the keys of a cellar, newest first, and refuses unknown cellars', async () => {
    await json('cellar', 'create', 'empty')
    expect((await json('key', 'list', '--cellar', 'empty')).lines).toEqual([])
    const { lines } = await json('key', 'list', '--cellar', 'wine-berlin')
    expect(lines).toHaveLength(4)
    expect(textOf(lines.at(-1), 'id')).toBe(keyId)
    expect(lines.every((line) => !('key' in line))).toBe(true)
    expect((await run('key', 'list', '--cellar', 'nowhere')).exitCode).toBe(1)
  })

  test('cellar list counts the keys of each cellar', async () => {
    const { lines } = await json('cellar', 'list')
    expect(lines).toMatchObject([
      { cellar: 'wine-berlin', keys: 4 },
      { cellar: 'empty', keys: 0 },
    ])
  })

  test('key suspend, resume and revoke print the key as it is now', async () => {
    expect((await json('key', 'suspend', keyId, '--reason', 'lost')).lines).toMatchObject([{ status: 'suspended' }])
    expect((await json('key', 'resume', keyId, '--reason', 'found')).lines).toMatchObject([{ status: 'active' }])
    expect((await json('key', 'revoke', keyId, '--reason', 'stolen')).lines).toMatchObject([{ status: 'revoked' }])
    const again = await run('key', 'resume', keyId)
    expect([again.exitCode, again.stdout]).toEqual([1, ''])
    expect((await run('key', 'revoke', 'nobody00')).exitCode).toBe(1)
  })

  test('key rotate prints the successor once and refuses an invalid overlap', async () => {
    const created = (await json('key', 'create', '--cellar', 'wine-berlin', '--label', 'Pump', '--limit', '50/5')).lines
    const old = textOf(created[0], 'id')
    const rotated = await json('key', 'rotate', old, '--overlap', '1h')
    const id = textOf(rotated.lines[0], 'id')
    expect(textOf(rotated.lines[0], 'key')).toMatch(new RegExp(`^clr_${id}_[0-9A-Za-z]{49}$`))
    const same = { cellar: 'wine-berlin', label: 'Pump', limit: { readings: 50, windowMs: 5_000 }, expiresAt: null }
    expect(rotated.lines).toMatchObject([{ ...same, status: 'active', predecessor: old }])
    expect(rotated.lines[0]).not.toHaveProperty('replaced')
    const listed = (await json('key', 'list')).lines
    expect(listed.find((line) => line['id'] === old)).toMatchObject({ status: 'active', successor: id })
    const history = await run('key', 'history', old)
    expect(history.stdout).toContain(`rotated to clr_${id}; this key stops 1h after the first reading with the new key`)
    expect((await run('key', 'history', id)).stdout).toContain(`rotated from clr_${old}`)
    const shown = await run('key', 'rotate', old)
    expect(shown.stdout).toMatch(new RegExp(`rotated from +${old}`))
    expect(shown.stderr).toContain(
      'The old key stops 24h after the first reading with the new key, or at its own expiry if that is earlier. A test reading counts too.',
    )
    expect((await run('key', 'rotate', old, '--overlap', '0')).stderr).toContain(
      'The first reading with the new key stops the old key at once. A test reading counts too.',
    )
    const replaced = `An earlier rotation created clr_${id}, which has not been used. It still works, but using it no longer stops the old key. If nobody needs clr_${id}, revoke it.`
    expect(shown.stderr.split('\n').filter((line) => line.startsWith('An earlier'))).toEqual([replaced])
    const second = (await json('key', 'list')).lines.find((line) => line['id'] === old)?.['successor']
    expect((await json('key', 'rotate', old)).lines).toMatchObject([{ replaced: second }])
    const third = (await json('key', 'list')).lines.find((line) => line['id'] === old)?.['successor']
    await json('key', 'revoke', String(third))
    expect((await run('key', 'rotate', old)).stderr).not.toContain('An earlier rotation')

    for (const overlap of ['2h', '1d', '-1', '']) {
      const refused = await run('key', 'rotate', old, '--overlap', overlap)
      expect([overlap, refused.exitCode, refused.stdout]).toEqual([overlap, 64, ''])
      expect(refused.stderr).toContain('one of 0, 1h, 24h, 7d')
    }
    expect((await run('key', 'rotate', 'nobody00')).exitCode).toBe(1)
    await json('key', 'revoke', old)
    expect((await run('key', 'rotate', old)).stderr).toContain('which cannot be undone')
  })

  test('key history prints each event, and the status of the key at an instant', async () => {
    const { lines } = await json('key', 'history', keyId)
    expect(lines.slice(0, -1).map((line) => [line['type'], line['status']])).toEqual([
      ['KeyCreated', 'active'],
      ['KeySuspended', 'suspended'],
      ['ReadingsFenced', 'suspended'],
      ['KeyResumed', 'active'],
      ['ReadingsSealed', 'revoked'],
      ['KeyRevoked', 'revoked'],
    ])
    expect(lines.at(-1)).toMatchObject({ key: keyId, status: 'revoked', reason: expect.stringContaining('stolen') })

    const [, suspended] = lines
    const at = textOf(suspended, 'recordedAt')
    const then = await json('key', 'history', keyId, '--at', at)
    expect(then.lines.at(-1)).toMatchObject({ at, status: 'suspended', reason: expect.stringContaining('lost') })
    const before = await json('key', 'history', keyId, '--at', '2020-01-01T00:00:00Z')
    expect(before.lines.at(-1)).toMatchObject({ status: null, reason: expect.stringContaining('not created yet') })
  })

  test('key history takes instants before 1970 too', async () => {
    for (const at of ['1969-12-31T23:59:59.999Z', '0026-03-01T10:14:07.000Z', '0000-01-01T00:00:00.000Z']) {
      const { lines } = await json('key', 'history', keyId, '--at', at)
      expect(lines.at(-1)).toMatchObject({ at, status: null, reason: expect.stringContaining('not created yet') })
    }
  })

  test('key create refuses long texts by their own bound, also when JSON escapes them', async () => {
    for (const [character, rule] of [
      ['x', 'The note must be at most 500 characters.'],
      ['\u0001', 'The note must not contain control characters.'],
    ] as const) {
      // Linux accepts no argument that is longer than this note.
      const note = character.repeat(128 * 1024 - 1)
      const ran = await run('key', 'create', '--cellar', 'wine-berlin', '--note', note)
      expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([1, '', `cellarbook: ${rule}\n`])
    }
  })

  test('key history refuses an instant in the future with exit code 64', async () => {
    const later = await run('key', 'history', keyId, '--at', '2999-01-01T00:00:00Z', '--json')
    expect([later.exitCode, later.stdout]).toEqual([64, ''])
    expect(later.stderr).toMatch(/^cellarbook: This time is in the future: it is now \S+Z\. .*\n$/)
  })

  test('key commands take the id as the dashboard shows it, and never a whole key', async () => {
    const [line] = (await json('key', 'create', '--cellar', 'wine-berlin')).lines
    const [id, key] = [textOf(line, 'id'), textOf(line, 'key')]
    for (const shown of [`clr_${id}`, `clr_${id}_`, `clr_${id}_…`]) {
      expect((await json('key', 'history', shown)).lines.at(-1)).toMatchObject({ key: id, status: 'active' })
    }
    for (const whole of [key, key.slice('clr_'.length), key.slice(0, 20)]) {
      for (const command of ['history', 'revoke']) {
        const ran = await run('key', command, whole)
        expect([ran.exitCode, ran.stdout]).toEqual([64, ''])
        expect(ran.stderr).toContain('only the 8 characters after "clr_"')
        expect(ran.stderr).not.toContain(key.slice(13, 20))
      }
    }
    expect((await json('key', 'revoke', `clr_${id}_…`)).lines).toMatchObject([{ id, status: 'revoked' }])
  })

  test('operator link creates the first link for an admin, with the dashboard’s address', async () => {
    const first = (await json('operator', 'link')).lines
    expect(first).toMatchObject([{ email: null, role: 'admin', expiresAt: expect.stringMatching(iso) }])
    const base = service?.url ?? 'http://127.0.0.1:0'
    expect(textOf(first[0], 'url')).toMatch(new RegExp(`^${base}/link/[0-9A-Za-z]{43}$`))
    const auditor = (await json('operator', 'link', '--email', 'eva@example.org', '--role', 'auditor')).lines
    expect(auditor).toMatchObject([{ email: 'eva@example.org', role: 'auditor' }])
  })

  test('log read prints every event with its place, and no hash of a secret', async () => {
    const { lines, stdout } = await json('log', 'read')
    expect(lines.length).toBeGreaterThan(10)
    for (const line of lines) {
      expect(line).toEqual({
        position: expect.stringMatching(/^\d+$/),
        stream: expect.any(String),
        revision: expect.any(Number),
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: expect.any(String),
        recordedAt: expect.stringMatching(iso),
        data: expect.any(Object),
        metadata: expect.objectContaining({ by: expect.any(Object) }),
      })
    }
    expect(stdout).not.toMatch(/"(secretHash|passwordHash|linkHash|sessionHash)":"(?!\[redacted\])/)
    expect(stdout).toContain('"secretHash":"[redacted]"')
    expect(stdout).toContain('"linkHash":"[redacted]"')
  })

  test('log read filters by stream, by type, and by an exclusive position', async () => {
    const all = (await json('log', 'read')).lines
    const ofKey = (await json('log', 'read', '--stream', `key-${keyId}`)).lines
    expect(ofKey).toEqual(all.filter((line) => line['stream'] === `key-${keyId}`))
    const created = (await json('log', 'read', '--type', 'KeyCreated')).lines
    expect(created).toEqual(all.filter((line) => line['type'] === 'KeyCreated'))
    const from = textOf(ofKey[1], 'position')
    expect((await json('log', 'read', '--stream', `key-${keyId}`, '--from', from)).lines).toEqual(ofKey.slice(2))
    expect((await json('log', 'read', '--from', textOf(all.at(-2), 'position'))).lines).toEqual(all.slice(-1))
    expect((await json('log', 'read', '--from', textOf(all.at(-1), 'position'))).lines).toEqual([])
  })

  test('log read filters by kind, actor, cellar, key, time and last position', async () => {
    const all = (await json('log', 'read')).lines
    const read = async (...words: string[]) => (await json('log', 'read', ...words)).lines
    const streamsOf = (lines: readonly Record<string, unknown>[]) => [
      ...new Set(lines.map((line) => textOf(line, 'stream').split('-')[0])),
    ]
    expect(streamsOf(await read('--kind', 'cellars'))).toEqual(['cellar'])
    expect(streamsOf(await read('--key', `clr_${keyId}`))).toEqual(['key', 'readings'])
    expect(await read('--key', keyId)).toEqual(all.filter((line) => textOf(line, 'stream').endsWith(keyId)))
    expect(streamsOf(await read('--cellar', 'wine-berlin'))).toEqual(['cellar', 'key', 'readings'])
    expect(await read('--cellar', 'empty')).toHaveLength(1)
    expect(await read('--actor', 'ada@example.org')).toEqual([])
    const byCommandLine = await read('--actor', 'cli')
    expect(byCommandLine.length).toBe(all.length - (await read('--actor', 'system')).length)
    const [, middle] = await read('--key', keyId)
    const [at, position] = [textOf(middle, 'recordedAt'), textOf(middle, 'position')]
    expect(await read('--since', at)).toEqual(all.filter((line) => textOf(line, 'recordedAt') >= at))
    expect(await read('--until', at)).toEqual(all.filter((line) => textOf(line, 'recordedAt') < at))
    expect(await read('--to', position)).toEqual(
      all.slice(0, all.findIndex((line) => line['id'] === middle?.['id']) + 1),
    )
  })

  test('log read names a key, a cellar or an instant that it does not know', async () => {
    for (const [words, exitCode, why] of [
      [['--key', 'nobody00'], 1, 'There is no key with this id'],
      [['--cellar', 'nowhere'], 1, 'There is no cellar with this identifier'],
      [['--since', 'some day'], 64, 'It must be a time (UTC) like'],
      [['--until', '12'], 64, 'it may be a position'],
      [['--kind', 'secrets'], 64, 'Allowed choices are readings'],
      [['--actor', 'everyone'], 64, 'It must be an e-mail, a key'],
      [['--follow', '--to', '12'], 64, 'cannot be used with option'],
    ] as const) {
      const ran = await run('log', 'read', ...words)
      expect([words, ran.exitCode, ran.stdout]).toEqual([words, exitCode, ''])
      expect(ran.stderr).toContain(why)
    }
  })

  test('log find finds an event by receipt, position, request id and instant', async () => {
    const events = (await json('log', 'read', '--key', keyId)).lines
    const [created, suspended, , resumed] = events
    const find = async (what: string) => (await json('log', 'find', what)).lines
    expect(await find(`key-${keyId}@0`)).toEqual([{ ...created }])
    expect(await find(textOf(suspended, 'position'))).toEqual([{ ...suspended }])
    const requestId = textOf({ ...Object(suspended?.['metadata']) }, 'requestId')
    expect(await find(requestId.toUpperCase())).toEqual(events.slice(1, 3))
    const [found] = await find(textOf(resumed, 'recordedAt'))
    expect(textOf(found, 'recordedAt')).toBe(textOf(resumed, 'recordedAt'))
  })

  test('log find prints an event for people, and times as they say them', async () => {
    const [created] = (await json('log', 'find', `key-${keyId}@0`)).lines
    const { stdout } = await run('log', 'find', `key-${keyId}@0`)
    expect(stdout).toMatch(/^event +KeyCreated\ntime +\d{4}-.*Z\nby +command line\n/)
    expect(stdout).toMatch(/\nexpiresAt +(none|\d{4}-.*Z)\n/)
    expect(stdout).toContain(`\nreceipt`)
    expect(stdout).toContain(textOf(created, 'id'))
    const [first] = (await json('log', 'find', 'an hour ago')).lines
    const [same] = (await json('log', 'read', '--since', '1 hour ago')).lines
    expect([typeof first?.['id'], typeof same?.['id']]).toEqual(['string', 'string'])
  })

  test('log find finds a key by its id and by its beginning', async () => {
    for (const what of [keyId, `clr_${keyId}`, `clr_${keyId}_…`]) {
      expect((await json('log', 'find', what)).lines).toMatchObject([{ id: keyId, status: 'revoked' }])
    }
    expect((await run('log', 'find', keyId)).stdout).toContain('revoked')
  })

  test('log find finds an event by its id only while the service runs', async () => {
    const [first] = (await json('log', 'read')).lines
    const id = textOf(first, 'id')
    const ran = await run('log', 'find', id)
    expect([ran.exitCode, ran.stdout.includes(textOf(first, 'type'))]).toEqual(isServing ? [0, true] : [1, false])
  })

  test('log find says what it looked for, and repeats no whole key', async () => {
    for (const [what, why] of [
      [`readings-${keyId}@99`, `the last revision of "readings-${keyId}" is 1`],
      ['readings-nobody00@0', 'there is no stream "readings-nobody00"'],
      ['nobody00', 'there is no key "nobody00"'],
      ['900000000000', 'no event has the position 900000000000'],
      ['2999-01-01', 'no event was recorded at 2999-01-01T00:00:00.000Z or later'],
      ['019ca8df-0403-7000-8000-000000000000', 'A refused request stores no event'],
      ['0f8fad5b-d9cb-469f-a165-70867728950e', 'log read --json | grep'],
    ] as const) {
      const ran = await run('log', 'find', what)
      expect([what, ran.exitCode, ran.stdout]).toEqual([what, 1, ''])
      expect(ran.stderr).toStartWith(`cellarbook: Cannot find "${what}": `)
      expect(ran.stderr).toContain(why)
    }
    for (const what of ['', 'some day', `clr_${keyId}_${'x'.repeat(49)}`]) {
      const ran = await run('log', 'find', what)
      expect([what, ran.exitCode, ran.stdout]).toEqual([what, 64, ''])
      expect(ran.stderr).not.toContain('xxx')
    }
  })

  test('without --json, commands print tables that cannot steer the terminal', async () => {
    // Control characters are refused in names, but U+202E is allowed. On a terminal it would reverse the text.
    await json('cellar', 'create', 'evil\u202ecellar', '--title', '\u202egnp.exe')
    const cellars = await run('cellar', 'list')
    expect(cellars.exitCode).toBe(0)
    expect(cellars.stdout).toMatch(/^CELLAR\s+TITLE\s+KEYS\s+CREATED\n/)
    expect(cellars.stdout).toContain('\\u202egnp.exe')
    expect(cellars.stdout).not.toContain('\u202e')
    expect((await json('cellar', 'list')).stdout).not.toContain('\u202e')

    expect((await run('key', 'list')).stdout).toContain(keyId)
    const history = await run('key', 'history', keyId)
    expect(history.stdout).toContain('reason: stolen')
    expect(history.stdout).toMatch(/key \w{8} was revoked since .* by the command line: stolen\n$/)
    expect((await run('log', 'read', '--type', 'KeyRevoked')).stdout).toContain(`key-${keyId}@3`)
  })
})
