/** Runs the programs of docs/programs, which docs/devices.md shows to people who program a device. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptedReadings } from '../support/answers.ts'
import { root } from '../support/cellarbook.ts'
import { selfSigned } from '../support/certificate.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { type Service, startService, testCellar } from '../support/test-service.ts'
import { buildMsMax, type Client, type Ended, goCache, isThere, reportMissing, runIn, toolOf } from './tools.ts'
import { openWay, type Step, type UnreliableWay } from './unreliable-way.ts'

const programs = join(root, 'docs/programs')
const folder: TemporaryFolder = temporaryFolder()
let service: Service
beforeAll(async () => {
  service = await startService()
  for (const { prepare } of clients.filter(isThere)) {
    if (prepare === undefined) continue
    const built = await runIn(folder.path, prepare, {
      environment: { GO111MODULE: 'off', CGO_ENABLED: '0', GOCACHE: goCache },
    })
    expect([built.code, built.stderr]).toEqual([0, ''])
  }
}, buildMsMax)
afterAll(async () => {
  await service.stop()
  folder.remove()
})

type Program = Client & {
  readonly file: string
  /** The variable that names a file with trusted certificates. Absent: the program speaks plain http, or reads a file. */
  readonly trust?: string
  /** Compiles the program once. */
  readonly prepare?: readonly string[]
}

const command = (tool: string | null, ...words: readonly string[]): readonly string[] | null =>
  tool === null ? null : [tool, ...words]

const compiler = toolOf('cc', 'gcc', 'clang')
const strict = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', '-O2']

const script = (name: string, file: string, ...tools: readonly string[]): Program => ({
  name,
  file,
  isInstalledByCi: true,
  command: command(toolOf(...tools), join(programs, file)),
})

const clients: readonly Program[] = [
  {
    ...script('shell with curl', 'send.sh', 'sh'),
    trust: 'CURL_CA_BUNDLE',
    ...(toolOf('curl') === null && { command: null }),
  },
  { ...script('Python', 'send.py', 'python3'), trust: 'SSL_CERT_FILE' },
  { ...script('Node', 'send.mjs', 'node'), trust: 'NODE_EXTRA_CA_CERTS' },
  {
    name: 'Go',
    file: 'send.go',
    trust: 'SSL_CERT_FILE',
    isInstalledByCi: true,
    command: command(toolOf('go') && join(folder.path, 'send-go')),
    prepare: ['go', 'build', '-o', join(folder.path, 'send-go'), join(programs, 'send.go')],
  },
  {
    name: 'C',
    file: 'send.c',
    isInstalledByCi: true,
    command: command(compiler && join(folder.path, 'send-c')),
    prepare: [compiler ?? '', ...strict, '-o', join(folder.path, 'send-c'), join(programs, 'send.c')],
  },
  { ...script('MicroPython', 'send_micropython.py', 'micropython'), trust: 'CA', isInstalledByCi: false },
  { ...script('the MicroPython program in Python', 'send_micropython.py', 'python3'), trust: 'CA' },
]

/** What a second of waiting takes here. */
const secondMs = 2

/** Each run has a folder of its own, because the MicroPython program reads its settings from a file there. */
const run = async (
  program: Program & { readonly command: readonly string[] },
  url: string,
  key: string,
  more: Readonly<Record<string, string>> = {},
) => {
  const work = mkdtempSync(join(folder.path, 'run-'))
  const settings = { URL: url, KEY: key, CELLAR: testCellar, SECOND_MS: secondMs, CA: more['CA'] ?? '' }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  writeFileSync(join(work, 'cellarbook_config.py'), lines.join(''))
  return runIn(work, program.command, {
    environment: {
      CELLARBOOK_URL: url,
      CELLARBOOK_KEY: key,
      CELLARBOOK_CELLAR: testCellar,
      CELLARBOOK_SECOND_MS: `${secondMs}`,
      PYTHONPATH: work,
      MICROPYPATH: work,
      ...more,
    },
  })
}

type Outcome = Ended & { readonly arrived: UnreliableWay['arrived']; readonly values: readonly number[] }

/** Runs a program over an unreliable way. `values` are the values that the service stored meanwhile. */
const runOver = async (program: Program, steps: readonly Step[], basePath = ''): Promise<Outcome> => {
  if (!isThere(program)) throw new Error(`${program.name} is not on this machine`)
  const { key } = await service.createKey()
  const before = (await acceptedReadings(service.log)).length
  const way = await openWay(service.url, steps)
  const ended = await run(program, `${way.url}${basePath}`, key)
  await way.close()
  const stored = (await acceptedReadings(service.log)).slice(before)
  return { ...ended, arrived: way.arrived, values: stored.map(({ data }) => data.value) }
}

const stored = [21.5, 21.6, 64]
/** It has a test of its own. */
const forwarder = 'forward_webhook.py'

const waitsIn = ({ stdout, stderr }: Ended): readonly number[] =>
  [...`${stdout}${stderr}`.matchAll(/next try in (\d+) s/g)].map(([, seconds]) => Number(seconds))

test('every program of the guide has a tool here, or is named', () => {
  expect(reportMissing(clients)).toEqual([])
  const devicePrograms = readdirSync(programs).filter((file) => file !== forwarder)
  expect([...new Set(clients.map(({ file }) => file))].sort()).toEqual(devicePrograms.sort())
})

describe.each(clients.filter(isThere))('the program for $name', (program) => {
  test('stores one reading and a batch, each with its own idempotency key', async () => {
    const { code, stdout, stderr, arrived, values } = await runOver(program, [])
    expect({ code, stderr, values }).toEqual({ code: 0, stderr: '', values: stored })
    expect(stdout).toContain('Reading stored.')
    expect(stdout).toContain('2 readings stored.')
    expect(arrived.map(({ path }) => path)).toEqual(['/api/v1/ingest', '/api/v1/ingest/batch'])
    expect(new Set(arrived.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
    for (const { idempotencyKey } of arrived) expect(idempotencyKey).toMatch(/^[0-9a-f-]{32,36}$/)
  })

  test('sends the time of now in UTC', async () => {
    const earliest = Date.now()
    const { arrived } = await runOver(program, [])
    const { timestamp } = JSON.parse(arrived[0]?.body ?? '')
    // Some programs send whole seconds.
    expect(Date.parse(timestamp)).toBeWithin(earliest - 1_000, Date.now() + 1)
  })

  test('waits as long as a 429 says, and then stores once', async () => {
    const fullFor = (seconds: number): Step => ({ status: 429, headers: { 'retry-after': `${seconds}` } })
    const outcome = await runOver(program, [fullFor(60), 'pass', fullFor(7), fullFor(7)])
    expect([outcome.code, outcome.values, waitsIn(outcome)]).toEqual([0, stored, [60, 7, 7]])
    const [first, second] = outcome.arrived
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(60 * secondMs)
  })

  test('repeats every status that can pass later, with a longer wait each time', async () => {
    const steps = [408, 409, 500, 502, 503, 504].map((status) => ({ status }))
    const outcome = await runOver(program, steps)
    expect([outcome.code, outcome.values, waitsIn(outcome)]).toEqual([0, stored, [1, 2, 4, 8, 16, 32]])
    const tries = outcome.arrived.slice(0, steps.length + 1)
    expect(new Set(tries.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`)).size).toBe(1)
  })

  test('stores nothing twice when the connection breaks after a reading was stored', async () => {
    const { code, arrived, values } = await runOver(program, ['lose answer', 'lose answer', 'pass', 'lose answer'])
    expect([code, values]).toEqual([0, stored])
    expect(arrived).toHaveLength(5)
    expect(new Set(arrived.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  })

  test('sends again when the connection breaks before the request is read', async () => {
    const { code, values } = await runOver(program, ['lose request', 'pass', 'lose request'])
    expect([code, values]).toEqual([0, stored])
  })

  test.each([307, 400, 401, 422])('does not repeat a request after a %d', async (status) => {
    const refusal = { status, headers: { Location: '/elsewhere', 'Retry-After': '1' }, body: 'the reason' }
    const { code, stdout, stderr, arrived } = await runOver(program, [refusal])
    expect([code, arrived.length]).toEqual([1, 1])
    expect(`${stdout}${stderr}`).toContain('the reason')
  })

  test('repeats a 502 of a proxy whose page is not UTF-8', async () => {
    const body = Buffer.from('<h1>Störung</h1>', 'latin1')
    const { code, values } = await runOver(program, [{ status: 502, body }])
    expect([code, values]).toEqual([0, stored])
  })

  test.each(['/base', '/base/'])('keeps the path of its address: %s', async (basePath) => {
    const { code, arrived } = await runOver(program, [{ status: 200 }, { status: 200 }], basePath)
    expect(code).toBe(0)
    expect(arrived.map(({ path }) => path)).toEqual(['/base/api/v1/ingest', '/base/api/v1/ingest/batch'])
  })

  test('gives up after some tries, and says so', async () => {
    const outcome = await runOver(program, Array(20).fill({ status: 503, headers: { 'Retry-After': '0' } }))
    expect([outcome.code, outcome.values, outcome.arrived.length]).toEqual([1, [], 8])
    expect(`${outcome.stdout}${outcome.stderr}`).toContain('not stored')
  })

  test('takes the key from the environment or a file, never from its words', () => {
    expect(readFileSync(join(programs, program.file), 'utf8')).not.toMatch(/\bargv\b|\bos\.Args\b|--api-key/)
  })
})

describe('over https', () => {
  const certificate = selfSigned()
  const trusted = join(folder.path, 'trusted.pem')
  const trustedBytes = join(folder.path, 'trusted.der')
  const other = join(folder.path, 'other.pem')
  const otherBytes = join(folder.path, 'other.der')
  let secure: Service
  beforeAll(async () => {
    const stranger = selfSigned()
    for (const [path, { cert }] of [
      [trusted, certificate],
      [other, stranger],
    ] as const)
      writeFileSync(path, cert)
    writeFileSync(trustedBytes, new X509Certificate(certificate.cert).raw)
    writeFileSync(otherBytes, new X509Certificate(stranger.cert).raw)
    secure = await startService({ tls: certificate })
  })
  afterAll(() => secure.stop())

  const withTls = clients
    .filter(isThere)
    .flatMap(({ trust, ...program }) => (trust === undefined ? [] : [{ ...program, trust }]))
  test.each(withTls)('the program for $name sends only to a service with a trusted certificate', async (program) => {
    const { key, keyId } = await secure.createKey()
    const [good, bad] = program.trust === 'CA' ? [trustedBytes, otherBytes] : [trusted, other]
    const refused = await run(program, secure.url, key, { [program.trust]: bad })
    expect(refused.code).not.toBe(0)
    expect(secure.core.projections.readings.usage(keyId)?.accepted ?? 0).toBe(0)
    const { code, stdout } = await run(program, secure.url, key, { [program.trust]: good })
    expect([code, stdout.includes('2 readings stored.')]).toEqual([0, true])
  })
})
