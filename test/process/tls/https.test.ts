import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { cellarbook, newFolder, startedProcesses, textOf } from '../../support/cellarbook.ts'
import { selfSigned } from '../../support/certificate.ts'

setDefaultTimeout(600_000)

const slowMs = 60_000
const folder = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

test(
  'with TLS_CERT and TLS_KEY the service takes readings over https only',
  async () => {
    const { cert, key: certificateKey } = selfSigned()
    const [TLS_CERT, TLS_KEY] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')]
    writeFileSync(TLS_CERT, cert)
    writeFileSync(TLS_KEY, certificateKey)
    const dataDir = join(folder.path, 'data')
    mkdirSync(dataDir)
    await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir })
    const created = await cellarbook(['key', 'create', '--cellar', 'c', '--json'], { DATA_DIR: dataDir })
    const [key, keyId] = [textOf(created.lines[0], 'key'), textOf(created.lines[0], 'id')]

    const service = await start(dataDir, { environment: { TLS_CERT, TLS_KEY } })
    expect(service.url).toStartWith('https://127.0.0.1:')
    const post = (url: string, tls: object): Promise<Response> =>
      fetch(`${url}/api/v1/ingest`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
        body: JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
        tls,
      })
    const answer = await post(service.url, { ca: cert })
    expect([answer.status, answer.headers.get('X-Receipt')]).toEqual([200, `${readingsStream(keyId)}@0`])
    // A client that trusts another certificate refuses this one. Plain HTTP gets no answer.
    await expect(post(service.url, { ca: selfSigned().cert })).rejects.toThrow()
    await expect(post(service.url.replace('https:', 'http:'), {})).rejects.toThrow()
    expect(await service.stop()).toBe(0)
  },
  slowMs,
)
