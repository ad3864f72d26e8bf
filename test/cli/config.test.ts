import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import {
  asCalled,
  baseUrlOf,
  type Config,
  type Environment,
  parseConfig,
  programOf,
  unknownNames,
} from '../../src/config.ts'
import { type Variable, variables } from '../../src/variables.ts'
import { cellarbook, newFolder, root } from '../support/cellarbook.ts'
import { storeUrl } from '../support/logs/engine.ts'
import { freshPrefix } from '../support/logs/event-store-log.ts'

// Some tests start a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const configOf = (environment: Environment): Config => {
  const parsed = parseConfig(environment)
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'))
  return parsed.config
}

/** Without the settings, which have tests of their own. */
const valuesOf = (environment: Environment): Omit<Config, 'settings'> => {
  const { settings: _, ...values } = configOf(environment)
  return values
}

const faultsOf = (environment: Environment): readonly string[] => {
  const parsed = parseConfig(environment)
  return parsed.ok ? [] : parsed.faults
}

describe('parseConfig()', () => {
  test('uses defaults for an empty environment', () => {
    const expected: Omit<Config, 'settings'> = {
      host: '127.0.0.1',
      port: 3000,
      dataDir: './data',
      diskReserveBytes: 256 * 1024 * 1024,
      sessionIdleMs: 2 * 3_600_000,
      eventStore: null,
      publicUrl: null,
      metrics: null,
      trustedProxies: [],
      tls: null,
      nodeName: hostname(),
      logLevel: 'info',
      allowInsecureHttp: false,
      webhooks: { master: null, privateAddresses: 'refuse' },
      allowSharedDataDir: false,
      program: `${process.argv0} src/main.ts`,
      publicProgram: `${basename(process.argv0)} src/main.ts`,
    }
    expect(valuesOf({})).toEqual(expected)
    expect(valuesOf({ PORT: '', HOST: '', EVENTSTORE_URL: '', PUBLIC_URL: '' })).toEqual(expected)
  })

  test.each([
    [undefined, `${process.argv0} src/main.ts`],
    ['bun/1.4.5 npm/? node/v26.3.0 linux x64', 'bun run cellarbook'],
    ['npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', `npx --yes bun@${Bun.version} run cellarbook`],
  ])('names commands as a person can run them who started it by %s', (npm_config_user_agent, program) => {
    expect(configOf({ npm_config_user_agent }).program).toBe(program)
  })

  test('asCalled() changes commands alone', () => {
    const text = '"cellarbook log copy" in /srv/cellarbook or cellarbook: Run cellarbook key create --cellar ID'
    const called = '"./cb log copy" in /srv/cellarbook or cellarbook: Run ./cb key create --cellar ID'
    expect(asCalled(text, './cb')).toBe(called)
    expect(asCalled('/srv/cellarbook is full, a Cellarbook log', './cb')).toBe(
      '/srv/cellarbook is full, a Cellarbook log',
    )
    expect(asCalled('cannot read my cellarbook backups/b.db', './cb')).toBe('cannot read my cellarbook backups/b.db')
  })

  test('programOf() gives one word of a shell for any path', () => {
    expect(programOf({}, "/opt/my bun's/bun")).toBe("'/opt/my bun'\\''s/bun' src/main.ts")
  })

  test('takes every variable', () => {
    expect(
      valuesOf({
        HOST: '::1',
        PORT: '0',
        DATA_DIR: '/var/lib/cellarbook',
        DISK_RESERVE: '2GiB',
        SESSION_IDLE: '30m',
        EVENTSTORE_URL: 'esdb://anna:p%40ss@db.example:2114?tlsCaFile=/etc/ca.crt',
        EVENTSTORE_PREFIX: 'prod-',
        PUBLIC_URL: 'https://cellar.example/',
        METRICS_PORT: '9464',
        METRICS_HOST: '10.0.0.1',
        TRUSTED_PROXIES: '10.0.0.2, fd00::2',
        TLS_CERT: 'cert.pem',
        TLS_KEY: 'key.pem',
        NODE_NAME: 'node-1',
        LOG_LEVEL: 'warn',
        ALLOW_INSECURE_HTTP: '1',
        WEBHOOK_MASTER: `${'A'.repeat(43)}=`,
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
        ALLOW_SHARED_DATA_DIR: '1',
      }),
    ).toEqual({
      host: '::1',
      port: 0,
      dataDir: '/var/lib/cellarbook',
      diskReserveBytes: 2 * 1024 ** 3,
      sessionIdleMs: 30 * 60_000,
      eventStore: {
        endpoints: [{ host: 'db.example', port: 2114 }],
        discovers: false,
        tls: { caPath: '/etc/ca.crt', certPath: null, keyPath: null },
        credentials: { username: 'anna', password: 'p@ss' },
        prefix: 'prod-',
      },
      publicUrl: 'https://cellar.example',
      metrics: { host: '10.0.0.1', port: 9464 },
      trustedProxies: ['10.0.0.2', 'fd00::2'],
      tls: { certPath: 'cert.pem', keyPath: 'key.pem' },
      nodeName: 'node-1',
      logLevel: 'warn',
      allowInsecureHttp: true,
      webhooks: { master: Buffer.alloc(32), privateAddresses: 'allow' },
      allowSharedDataDir: true,
      program: `${process.argv0} src/main.ts`,
      publicProgram: `${basename(process.argv0)} src/main.ts`,
    })
  })

  test('reports every fault at once, each with its variable, value and rule', () => {
    const wrong = {
      HOST: 'http://nas',
      PORT: '65536',
      DATA_DIR: ' ',
      DISK_RESERVE: '256MB',
      PUBLIC_URL: 'cellar.example',
      TRUSTED_PROXIES: '10.0.0.2,proxy',
      TLS_CERT: 'cert.pem',
      LOG_LEVEL: 'loud',
      ALLOW_INSECURE_HTTP: 'yes',
      WEBHOOK_MASTER: 'A'.repeat(42),
      WEBHOOK_PRIVATE_ADDRESSES: '10.0.0.0/8',
      EVENTSTORE_URL: 'esdb://admin:changeit@db:2113?tls=maybe',
    }
    expect(faultsOf(wrong)).toEqual([
      'HOST is "http://nas": it must be an IP address or a host name, without scheme or port',
      'PORT is "65536": it must be a whole number from 0 (any free port) to 65535',
      'DATA_DIR is " ": it must be the path of a folder',
      'DISK_RESERVE is "256MB": it must be a size of at least 64MiB, like 256MiB, 1GiB or 268435456 (bytes)',
      'EVENTSTORE_URL (not shown): tls must be true or false',
      'PUBLIC_URL is "cellar.example": it must be an address like https://cellar.example, without path, query or user name',
      'TLS_CERT is set, but TLS_KEY is not: https needs both',
      'TRUSTED_PROXIES is "10.0.0.2,proxy": it must be IP addresses separated by commas, like 10.0.0.2,10.0.0.3',
      'ALLOW_INSECURE_HTTP is "yes": it must be 1 or 0',
      'WEBHOOK_MASTER (not shown): it must be 32 random bytes or more, in base64',
      'WEBHOOK_PRIVATE_ADDRESSES is "10.0.0.0/8": it must be refuse or allow',
      'LOG_LEVEL is "loud": it must be one of trace, debug, info, warn, error, fatal, silent',
    ])
  })

  test('refuses the port of the devices for the metrics', () => {
    const fault = 'METRICS_PORT is 3000, as PORT: devices must not reach the metrics'
    expect(faultsOf({ METRICS_PORT: '3000', METRICS_HOST: '10.0.0.1' })).toEqual([fault])
    const { settings } = parseConfig({ METRICS_PORT: '3000' })
    expect(settings.find(({ name }) => name === 'METRICS_PORT')?.fault).toBe(fault)
    expect(faultsOf({ METRICS_PORT: '3001' })).toEqual([])
    expect(faultsOf({ PORT: '0', METRICS_PORT: '0' })).toEqual([])
  })

  test.each(['-1', '1.5', '0x50', '80 ', '1e3', '٣', '999999'])('refuses %p as a port', (PORT) => {
    expect(faultsOf({ PORT })).toHaveLength(1)
  })

  test.each([
    ['64MiB', 64 * 1024 ** 2],
    ['67108864', 64 * 1024 ** 2],
    ['65536KiB', 64 * 1024 ** 2],
    ['1GiB', 1024 ** 3],
    ['8191TiB', 8191 * 1024 ** 4],
  ])('reads %p as a disk reserve', (DISK_RESERVE, bytes) => {
    expect(configOf({ DISK_RESERVE }).diskReserveBytes).toBe(bytes)
  })

  test.each(['67108863', '63MiB', '8192TiB', '256 MiB', '0x10000000', '1.5GiB', '-1GiB', '256mib', 'MiB', '1e9'])(
    'refuses %p as a disk reserve',
    (DISK_RESERVE) => {
      expect(faultsOf({ DISK_RESERVE })).toHaveLength(1)
    },
  )

  test.each([
    'https://user:secret@cellar.example',
    'https://user@cellar.example',
    'https://cellar.example/base',
    'https://cellar.example/?a=1',
    'https://cellar.example/#a',
    'ftp://cellar.example',
    'https://',
  ])('refuses %p as the public address', (PUBLIC_URL) => {
    const [fault] = faultsOf({ PUBLIC_URL })
    expect(fault).toStartWith('PUBLIC_URL ')
    expect(fault).not.toContain('secret')
  })
})

describe('a secret in a file', () => {
  const folder = newFolder()
  afterAll(() => folder.remove())
  const path = join(folder.path, 'url')
  const url = 'esdb://anna:changeit@db.example'

  test.each([url, `${url}\n`, `${url}\r\n`])('is read without the line break at its end: %p', (text) => {
    writeFileSync(path, text)
    const parsed = parseConfig({ EVENTSTORE_URL_FILE: path, EVENTSTORE_PREFIX: 'a-' })
    expect(parsed.ok && parsed.config.eventStore).toMatchObject({
      credentials: { username: 'anna', password: 'changeit' },
      endpoints: [{ host: 'db.example', port: 2113 }],
      prefix: 'a-',
    })
    const setting = parsed.settings.find(({ name }) => name === 'EVENTSTORE_URL')
    expect(setting).toMatchObject({ value: 'not shown', default: null, source: `file ${path}`, fault: null })
    expect(JSON.stringify(parsed.settings)).not.toContain('changeit')
  })

  test('has at most 64 KiB', () => {
    writeFileSync(path, url.padEnd(65_536))
    expect(faultsOf({ EVENTSTORE_URL_FILE: path })).toEqual([])
    writeFileSync(path, url.padEnd(65_537))
    expect(faultsOf({ EVENTSTORE_URL_FILE: path })).toEqual([
      `EVENTSTORE_URL_FILE is "${path}": it has more than 65536 bytes`,
    ])
  })

  test('is refused beside the variable itself, and if it cannot be read', () => {
    writeFileSync(path, url)
    expect(faultsOf({ EVENTSTORE_URL: url, EVENTSTORE_URL_FILE: path })).toEqual([
      'EVENTSTORE_URL and EVENTSTORE_URL_FILE are both set: use one of them',
    ])
    writeFileSync(path, '\n')
    expect(faultsOf({ EVENTSTORE_URL_FILE: path })).toEqual([`EVENTSTORE_URL_FILE is "${path}": it is empty`])
    const [missing, pipe] = [join(folder.path, 'missing'), join(folder.path, 'pipe')]
    expect(faultsOf({ EVENTSTORE_URL_FILE: missing })[0]).toMatch(/^EVENTSTORE_URL_FILE is ".*missing": ENOENT/)
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
    expect(faultsOf({ EVENTSTORE_URL_FILE: pipe })).toEqual([
      `EVENTSTORE_URL_FILE is "${pipe}": it is not a regular file`,
    ])
    writeFileSync(path, 'esdb://anna:changeit@')
    const [fault] = faultsOf({ EVENTSTORE_URL_FILE: path })
    expect(fault).toStartWith('EVENTSTORE_URL (not shown): it must be like esdb://')
    expect(fault).not.toContain('changeit')
  })

  test.each([
    { EVENTSTORE_URL_FILE: url },
    { EVENTSTORE_URL: 'esdb://anna:1234?changeit@db.example' },
    { EVENTSTORE_URL: 'esdb://anna:1234?changeit=a@db.example' },
  ])('is not shown if it is in the wrong variable or has a "?": %p', (environment) => {
    expect(faultsOf(environment)).toEqual([expect.stringMatching(/^EVENTSTORE_URL(_FILE)? \(not shown\): /)])
    expect(JSON.stringify(parseConfig(environment))).not.toContain('changeit')
  })

  test('reaches the store', async () => {
    writeFileSync(path, `${await storeUrl()}\n`)
    const store = { EVENTSTORE_URL: '', EVENTSTORE_URL_FILE: path, EVENTSTORE_PREFIX: freshPrefix() }
    const place = { ...store, DATA_DIR: join(folder.path, 'node') }
    expect(await cellarbook(['cellar', 'create', 'a'], place)).toMatchObject({ exitCode: 0, stderr: '' })
    const { lines } = await cellarbook(['cellar', 'list', '--json'], { ...place, DATA_DIR: join(folder.path, 'other') })
    expect(lines).toMatchObject([{ cellar: 'a' }])
  })

  test('is not read for a variable that is no secret', () => {
    writeFileSync(path, 'key.pem')
    expect(faultsOf({ TLS_CERT: 'cert.pem', TLS_KEY_FILE: path })).toEqual([
      'TLS_CERT is set, but TLS_KEY is not: https needs both',
    ])
  })
})

test('parseConfig() takes every declared variable, in the order of their declaration', () => {
  expect(parseConfig({}).settings.map(({ name }) => name)).toEqual(Object.values(variables).map(({ name }) => name))
})

test('unknownNames() finds names that begin like ours, but none that Kubernetes sets', () => {
  const known = Object.values(variables).map(({ name }) => name)
  const unknown = ['EVENTSTORE_URI', 'TLS_CERTIFICATE', 'TLS_KEY_FILE', 'WEBHOOK_SECRET']
  const foreign = [
    'EVENTSTORE_SERVICE_HOST',
    'EVENTSTORE_PORT',
    'EVENTSTORE_PORT_2113_TCP',
    'WEBHOOK_SERVICE_HOST',
    'MY_TLS_CERT',
    'PATH',
  ]
  const names = [...known, 'EVENTSTORE_URL_FILE', ...unknown, ...foreign]
  expect(unknownNames(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual(unknown)
})

describe('cellarbook config', () => {
  const folder = newFolder()
  afterAll(() => folder.remove())
  const url = 'esdb://anna:changeit@db.example'

  test('shows values, their origin, defaults and meanings, and no secret', async () => {
    const given = { DATA_DIR: folder.path, PORT: '8080', EVENTSTORE_URL: url }
    const ran = await cellarbook(['config'], given)
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).not.toContain('changeit')
    for (const { name, meaning } of Object.values(variables)) {
      expect(ran.stdout).toContain(`${name} `)
      expect(ran.stdout).toContain(meaning.replaceAll('`', ''))
    }
    expect(ran.stdout).toMatch(/^HOST +127\.0\.0\.1 \(default\)$/m)
    expect(ran.stdout).toMatch(/^PORT +8080 \(environment, default 3000\)$/m)
    expect(ran.stdout).toMatch(/^EVENTSTORE_URL +not shown \(environment\)$/m)
    expect(ran.stdout).toMatch(/^PUBLIC_URL +not set$/m)
    const { lines } = await cellarbook(['config', '--json'], given)
    expect(lines).toEqual(JSON.parse(JSON.stringify(parseConfig(given).settings)))
  })

  test('says everything that is wrong with exit code 78, and shows all variables', async () => {
    const ran = await cellarbook(['config'], { PORT: '65536', TLS_CERT: 'cert.pem', TLS_CERTIFICATE: 'cert.pem' })
    expect(ran.exitCode).toBe(78)
    expect(ran.stderr.trimEnd().split('\n')).toEqual([
      'cellarbook: warning: TLS_CERTIFICATE is set, but Cellarbook has no such variable',
      'cellarbook: PORT is "65536": it must be a whole number from 0 (any free port) to 65535',
      'cellarbook: TLS_CERT is set, but TLS_KEY is not: https needs both',
    ])
    expect(ran.stdout).toContain('65536 (environment, default 3000)')
    expect(ran.stdout).toContain('LOG_LEVEL')
  })

  test('reads the certificates and checks the data folder as a start does', async () => {
    const store = await cellarbook(['config'], { EVENTSTORE_URL: `esdb://db.example?tlsCaFile=${folder.path}` })
    expect([store.exitCode, store.stderr]).toEqual([78, expect.stringContaining('a file that EVENTSTORE_URL names')])
    const certificate = await cellarbook(['config'], { TLS_CERT: folder.path, TLS_KEY: folder.path })
    expect([certificate.exitCode, certificate.stderr]).toEqual([78, expect.stringContaining('Cannot read TLS_CERT')])
    chmodSync(folder.path, 0o777)
    const shared = await cellarbook(['config'], { DATA_DIR: folder.path })
    expect([shared.exitCode, shared.stderr]).toEqual([78, expect.stringContaining('Cannot use the data folder')])
    expect(readdirSync(folder.path)).toEqual([])
  })
})

/** The formatter aligns the columns. */
const cellsOf = (table: string): readonly string[] =>
  table.split('\n').map((row) => row.replace(/ {2,}/g, ' ').replace(/-+/g, '-'))

const readmeTable = (): string =>
  [
    '| variable | default | meaning |',
    '| - | - | - |',
    ...Object.values<Variable<unknown>>(variables).map(
      ({ name, default: text, meaning }) => `| \`${name}\` | ${text === '' ? 'not set' : `\`${text}\``} | ${meaning} |`,
    ),
  ].join('\n')

test('the table of README.md says what the declarations of the variables say', async () => {
  const path = join(root, 'README.md')
  const readme = await Bun.file(path).text()
  const [table = ''] = /^\| variable .*\n(?:\|.*\n)*/m.exec(readme) ?? []
  if (process.env['UPDATE_README'] === '1')
    await Bun.write(
      path,
      readme.replace(table, () => `${readmeTable()}\n`),
    )
  else expect(cellsOf(table.trim())).toEqual(cellsOf(readmeTable()))
})

describe('baseUrlOf()', () => {
  test.each([
    [{}, 'http://127.0.0.1:3000'],
    [{ HOST: '0.0.0.0', PORT: '8080' }, 'http://localhost:8080'],
    [{ HOST: '::' }, 'http://localhost:3000'],
    [{ HOST: '::1' }, 'http://[::1]:3000'],
    [{ HOST: 'nas', TLS_CERT: 'c', TLS_KEY: 'k' }, 'https://nas:3000'],
    [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://cellar.example' }, 'https://cellar.example'],
  ] as const)('of %p is %p', (environment, url) => {
    expect(baseUrlOf(configOf(environment))).toBe(url)
  })
})
