import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openFreshLog } from '../../support/logs/engine.ts'
import { type FaultyLog, faultyLog } from '../../support/logs/faulty-log.ts'
import { type Service, startService } from '../../support/test-service.ts'

let log: FaultyLog
let service: Service
beforeAll(async () => {
  log = faultyLog(await openFreshLog())
  service = await startService({ log })
})
afterAll(async () => {
  await service.stop()
  await log.close()
})

const look = async (path: string, method = 'GET') => {
  const response = await fetch(`${service.url}${path}`, { method })
  return { status: response.status, body: await response.text(), headers: response.headers }
}

describe('without a key', () => {
  test('/livez and /readyz say yes, and nothing else', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body, headers } = await look(path)
      expect({ path, status, body }).toEqual({ path, status: 200, body: '{"ok":true}' })
      expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8')
      expect(headers.get('Cache-Control')).toBe('no-store')
    }
  })

  test('/readyz says no while the log is away, and /livez yes', async () => {
    log.goAway()
    const { status, body, headers } = await look('/readyz')
    expect({ status, body }).toEqual({ status: 503, body: '{"ok":false}' })
    expect(headers.get('Retry-After')).toBe('1')
    expect((await look('/livez')).status).toBe(200)
    log.comeBack()
    expect((await look('/readyz')).status).toBe(200)
  })

  test('both take GET and HEAD, and no other method', async () => {
    for (const path of ['/livez', '/readyz']) {
      expect(await look(path, 'HEAD')).toMatchObject({ status: 200, body: '' })
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await look(path, method)
        expect({ method, status, allow: headers.get('Allow') }).toEqual({ method, status: 405, allow: 'GET, HEAD' })
      }
      expect((await look(path, 'POST')).body).toContain('method must be GET or HEAD on this path')
    }
  })

  test('paths below them do not exist', async () => {
    for (const path of ['/livez/', '/readyz/x', '/healthz', '/api/../livezz'])
      expect((await look(path)).status).toBe(404)
  })
})
