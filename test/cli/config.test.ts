import { describe, expect, test } from 'bun:test'
import { baseUrlOf, type Config, type Environment, parseConfig } from '../../src/config.ts'

const configOf = (environment: Environment): Config => {
  const parsed = parseConfig(environment)
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'))
  return parsed.config
}

const faultsOf = (environment: Environment): readonly string[] => {
  const parsed = parseConfig(environment)
  return parsed.ok ? [] : parsed.faults
}

describe('parseConfig()', () => {
  test('uses defaults for an empty environment', () => {
    const expected: Config = {
      host: '127.0.0.1',
      port: 3000,
      dataDir: './data',
      diskReserveBytes: 256 * 1024 * 1024,
      sessionIdleMs: 2 * 3_600_000,
      eventStore: null,
      publicUrl: null,
      trustedProxies: [],
      tls: null,
      logLevel: 'info',
      allowInsecureHttp: false,
      allowSharedDataDir: false,
      program: 'bun src/main.ts',
    }
    expect(configOf({})).toEqual(expected)
    expect(configOf({ PORT: '', HOST: '', EVENTSTORE_URL: '', PUBLIC_URL: '' })).toEqual(expected)
  })

  test.each([
    [undefined, 'bun src/main.ts'],
    ['bun/1.4.5 npm/? node/v26.3.0 linux x64', 'bun run cellarbook'],
    ['npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', `npx --yes bun@${Bun.version} run cellarbook`],
  ])('names commands as a person can run them who started it by %s', (npm_config_user_agent, program) => {
    expect(configOf({ npm_config_user_agent }).program).toBe(program)
  })

  test('takes every variable', () => {
    expect(
      configOf({
        HOST: '::1',
        PORT: '0',
        DATA_DIR: '/var/lib/cellarbook',
        DISK_RESERVE: '2GiB',
        SESSION_IDLE: '30m',
        EVENTSTORE_URL: 'esdb://anna:p%40ss@db.example:2114?tlsCaFile=/etc/ca.crt',
        EVENTSTORE_PREFIX: 'prod-',
        PUBLIC_URL: 'https://cellar.example/',
        TRUSTED_PROXIES: '10.0.0.2, fd00::2',
        TLS_CERT: 'cert.pem',
        TLS_KEY: 'key.pem',
        LOG_LEVEL: 'warn',
        ALLOW_INSECURE_HTTP: '1',
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
      trustedProxies: ['10.0.0.2', 'fd00::2'],
      tls: { certPath: 'cert.pem', keyPath: 'key.pem' },
      logLevel: 'warn',
      allowInsecureHttp: true,
      allowSharedDataDir: true,
      program: 'bun src/main.ts',
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
      EVENTSTORE_URL: 'esdb://admin:changeit@db:2113?tls=maybe',
    }
    expect(faultsOf(wrong)).toEqual([
      'HOST is "http://nas": it must be an IP address or a host name, without scheme or port',
      'PORT is "65536": it must be a whole number from 0 (any free port) to 65535',
      'DATA_DIR is " ": it must be the path of a folder',
      'DISK_RESERVE is "256MB": it must be a size of at least 64MiB, like 256MiB, 1GiB or 268435456 (bytes)',
      'EVENTSTORE_URL (not shown): tls must be true or false',
      'PUBLIC_URL is "cellar.example": it must be an address like https://cellar.example, without path, query or user name',
      'TRUSTED_PROXIES is "10.0.0.2,proxy": it must be IP addresses separated by commas, like 10.0.0.2,10.0.0.3',
      'TLS_KEY is not set, but TLS_CERT is: https needs both',
      'LOG_LEVEL is "loud": it must be one of trace, debug, info, warn, error, fatal, silent',
      'ALLOW_INSECURE_HTTP is "yes": it must be 1 or 0',
    ])
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
    expect(fault).toStartWith('PUBLIC_URL is ')
    expect(fault).not.toContain('secret')
  })
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
