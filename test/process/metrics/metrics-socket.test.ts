import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { cellarbook, newFolder, type ServiceProcess, startedProcesses } from '../../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const { start, killAll } = startedProcesses()
afterEach(killAll)
afterAll(() => folder.remove())

let count = 0
const withMetrics = async (environment: Readonly<Record<string, string>> = {}) => {
  const dataDir = join(folder.path, `data-${count++}`)
  const service = await start(dataDir, { environment: { METRICS_PORT: '0', ...environment } })
  return { service, url: await metricsUrl(service) }
}

const metricsUrl = async (service: ServiceProcess): Promise<string> => {
  const line = await service.untilStdout(/\{[^\n]*"serving metrics"[^\n]*\}/)
  const { host, port } = JSON.parse(line?.[0] ?? '{}')
  return `http://${host}:${port}`
}

describe('the socket of the metrics', () => {
  test('answers /metrics on loopback, and no other path or method', async () => {
    const { url } = await withMetrics()
    expect(new URL(url).hostname).toBe('127.0.0.1')
    const answer = await fetch(`${url}/metrics`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    expect(await answer.text()).toContain('\ncellarbook_ready 1\n')
    for (const path of ['/', '/livez', '/metrics/', '/sign-in', '/api/v1/ingest']) {
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404])
    }
    expect(await (await fetch(`${url}/nothing`)).text()).toContain('path must be exactly /metrics: ')
    expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(200)
    for (const method of ['POST', 'PUT', 'OPTIONS', 'DELETE']) {
      const refused = await fetch(`${url}/metrics`, { method })
      expect([method, refused.status, refused.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })

  test('is the only one that has /metrics, and is closed without METRICS_PORT', async () => {
    const { service } = await withMetrics()
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
    const without = await start(join(folder.path, 'without'))
    await without.stop()
    expect(without.stdout()).not.toContain('metrics')
  })

  test('ends with the service, also while somebody reads the metrics', async () => {
    const { service, url } = await withMetrics()
    await fetch(`${url}/metrics`)
    expect(await service.stop()).toBe(0)
    expect(await fetch(`${url}/metrics`).catch(() => 'closed')).toBe('closed')
  })

  test('names METRICS_PORT when its port is in use, before the log is opened', async () => {
    const { url } = await withMetrics()
    const inUse = join(folder.path, `data-${count - 1}`)
    const environment = { DATA_DIR: inUse, METRICS_PORT: new URL(url).port }
    const { exitCode, stderr } = await cellarbook(['serve'], environment)
    expect(exitCode).toBe(78)
    const [, port] = url.split('http://127.0.0.1:')
    expect(stderr).toStartWith(
      `cellarbook: Cannot listen on 127.0.0.1 port ${port}: the port is in use. Set METRICS_PORT to another one, `,
    )
  })

  test('names METRICS_HOST when no socket can have its address', async () => {
    const environment = { DATA_DIR: join(folder.path, 'third'), METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' }
    const { exitCode, stderr } = await cellarbook(['serve'], environment)
    expect(exitCode).toBe(78)
    expect(stderr).toContain('METRICS_HOST "192.0.2.1" is not an address of this machine')
  })
})
