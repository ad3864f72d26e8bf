import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { cellarbook, newFolder, type ServiceProcess, startedProcesses, textOf } from '../../support/cellarbook.ts'
import { type Certificate, selfSigned } from '../../support/certificate.ts'

setDefaultTimeout(600_000)

const slowMs = 60_000
const folder = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

const dayMs = 86_400_000
const link = join(folder.path, 'live')
const environment = { TLS_CERT: join(link, 'fullchain.pem'), TLS_KEY: join(link, 'privkey.pem') }
const dataDir = join(folder.path, 'data')

/** As cert-manager does it: a new folder, and a link that is renamed over the old one. */
let versions = 0
const install = ({ cert, key }: Certificate): void => {
  versions += 1
  const version = join(folder.path, `version-${versions}`)
  mkdirSync(version)
  writeFileSync(join(version, 'fullchain.pem'), cert)
  writeFileSync(join(version, 'privkey.pem'), key)
  symlinkSync(version, `${link}.new`)
  renameSync(`${link}.new`, link)
}

const fingerprintOf = ({ cert }: Certificate): string => new X509Certificate(cert).fingerprint256

/** On a connection of its own. Resolves with the certificate that the service showed. */
const ask = (service: ServiceProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    let answer = ''
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () =>
      socket.write(`GET /livez HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`),
    )
    let shown = ''
    socket.on('secureConnect', () => {
      shown = socket.getPeerCertificate().fingerprint256
    })
    socket.on('data', (piece) => {
      answer += piece.toString()
    })
    socket.on('error', reject)
    socket.on('close', () =>
      answer.startsWith('HTTP/1.1 200 ') ? resolve(shown) : reject(new Error(`answered ${JSON.stringify(answer)}`)),
    )
  })

/** Devices that keep their connections, and clients with a connection for each request. `end` resolves with all failures. */
const startLoad = (service: ServiceProcess, key: string) => {
  const failures: unknown[] = []
  let shown: string[] = []
  let hasEnded = false
  let posted = 0
  const device = async (): Promise<void> => {
    const body = JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' })
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
    const answer = await fetch(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers,
      body,
      tls: { rejectUnauthorized: false },
    })
    await answer.text()
    if (answer.status !== 200) throw new Error(`status ${answer.status}`)
    posted += 1
  }
  const client = async (): Promise<void> => {
    const ofBeginning = shown
    ofBeginning.push(await ask(service))
  }
  const loop = async (run: () => Promise<void>): Promise<void> => {
    while (!hasEnded) await run().catch((failure: unknown) => failures.push(failure))
  }
  const running = [...Array(4).fill(device), ...Array(8).fill(client)].map(loop)
  return {
    shown: () => shown,
    /** From now on, `shown` has the certificates of the requests that begin later. */
    forgetShown: () => {
      shown = []
    },
    posted: () => posted,
    failures,
    end: async (): Promise<readonly unknown[]> => {
      hasEnded = true
      await Promise.all(running)
      return failures
    },
  }
}

describe.skipIf(process.platform !== 'linux')('a renewed certificate', () => {
  test(
    'comes into use under load, and no request fails',
    async () => {
      const [first, second] = [selfSigned(), selfSigned()]
      install(first)
      mkdirSync(dataDir)
      await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir })
      const words = ['key', 'create', '--cellar', 'c', '--limit', '10000000/60', '--json']
      const key = textOf((await cellarbook(words, { DATA_DIR: dataDir })).lines[0], 'key')
      const service = await start(dataDir, { environment })
      const load = startLoad(service, key)
      const until = async (isTrue: () => boolean): Promise<void> => {
        while (!isTrue() && load.failures.length === 0) await ask(service)
      }
      await until(() => load.shown().length >= 100 && load.posted() >= 100)
      expect(new Set(load.shown())).toEqual(new Set([fingerprintOf(first)]))

      install(second)
      service.signal('SIGHUP')
      expect(await service.untilStdout(/"msg":"a new certificate is in use.*/)).not.toBeNull()
      load.forgetShown()
      const posted = load.posted()
      await until(() => load.shown().length >= 300 && load.posted() >= posted + 100)
      expect(await load.end()).toEqual([])
      expect(new Set(load.shown())).toEqual(new Set([fingerprintOf(second)]))
      expect(await ask(service)).toBe(fingerprintOf(second))
      expect(await service.stop()).toBe(0)
    },
    slowMs,
  )

  test(
    'is not read any more by a service that drains',
    async () => {
      install(selfSigned())
      const service = await start(dataDir, { environment })
      install(selfSigned())
      service.signal('SIGTERM')
      expect(await service.untilStdout(/"msg":"draining"/)).not.toBeNull()
      service.signal('SIGHUP')
      expect(await service.exited).toBe(0)
      expect(service.stdout()).not.toContain('a new certificate is in use')
    },
    slowMs,
  )

  test(
    'whose file hangs holds up no request',
    async () => {
      const first = selfSigned()
      install(first)
      const service = await start(dataDir, { environment })
      rmSync(environment.TLS_KEY)
      Bun.spawnSync(['mkfifo', environment.TLS_KEY])
      service.signal('SIGHUP')
      // Opens when the service reads there.
      const writer = await open(environment.TLS_KEY, 'w')
      expect(await ask(service)).toBe(fingerprintOf(first))
      await writer.close()
      expect(await service.untilStdout(/the changed certificate cannot be used/)).not.toBeNull()
      expect(await service.stop()).toBe(0)
    },
    slowMs,
  )

  test(
    'that is broken leaves the old one in use, and a line says until when',
    async () => {
      // Certificates have whole seconds.
      const endsAtMs = Math.floor(Date.now() / 1_000) * 1_000 + dayMs / 4
      const first = selfSigned('ec', endsAtMs)
      install(first)
      const service = await start(dataDir, { environment })
      expect(await service.untilStdout(/"level":"warn".*The certificate of this service ends soon/)).not.toBeNull()
      expect((await fetch(`${service.url}/readyz`, { tls: { rejectUnauthorized: false } })).status).toBe(200)
      install({ cert: selfSigned().cert, key: selfSigned().key })
      service.signal('SIGHUP')
      const said = await service.untilStdout(/.*the changed certificate cannot be used.*/)
      expect(JSON.parse(said?.[0] ?? '{}')).toMatchObject({
        level: 'warn',
        why: 'Cannot use TLS_CERT and TLS_KEY: the key belongs to another certificate',
        validUntil: new Date(endsAtMs).toISOString(),
      })
      rmSync(link)
      service.signal('SIGHUP')
      expect(await service.untilStdout(/Cannot read TLS_CERT or TLS_KEY/)).not.toBeNull()
      expect(await ask(service)).toBe(fingerprintOf(first))
      expect(await service.stop()).toBe(0)
    },
    slowMs,
  )
})
