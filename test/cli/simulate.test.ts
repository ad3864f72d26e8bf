import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newTally, runDevices } from '../../src/cli/simulate/simulated-devices.ts'
import { cellarbook, newFolder } from '../support/cellarbook.ts'
import { type Service, startService, testCellar } from '../support/test-service.ts'

// Each command starts a process, so the default timeout of 5 s is too short.
setDefaultTimeout(600_000)

const folder = newFolder()
let service: Service
let key = ''
let keyId = ''

beforeAll(async () => {
  service = await startService()
  const created = await service.createKey()
  key = created.key
  keyId = created.keyId
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const simulate = (more: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
  const words = ['simulate', '--url', service.url, '--cellar', testCellar, '--devices', '4', '--rate', '200', ...more]
  return cellarbook(words, environment)
}

describe('cellarbook simulate', () => {
  test('posts readings and counts the accepted ones', async () => {
    const ran = await simulate(['--duration', '1s', '--json'], { CELLARBOOK_KEY: key })
    expect(ran.exitCode).toBe(0)
    const accepted = Number(ran.lines[0]?.['accepted'])
    expect(ran.lines).toEqual([{ accepted, refused: {}, unanswered: 0, seconds: expect.any(Number) }])
    expect(accepted).toBeGreaterThan(0)
    await service.untilFolded(keyId, accepted)
    expect(ran.stderr).toMatch(new RegExp(`: ${accepted} accepted \\(\\d+/s\\)\\n$`))
  })

  test('takes the key from a file, and ends with 1 and the reason when refused', async () => {
    const keyFile = join(folder.path, 'key')
    writeFileSync(keyFile, `${key}x\n`)
    const ran = await simulate(['--duration', '1s', '--key-file', keyFile])
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('The last error: Invalid API key')
    expect(ran.stderr).not.toContain(key)
  })

  test('ends with 69 when nobody answers', async () => {
    const words = ['simulate', '--url', 'http://127.0.0.1:1', '--cellar', 'a', '--duration', '1s', '--rate', '50']
    const ran = await cellarbook(words, { CELLARBOOK_KEY: 'k' })
    expect(ran.exitCode).toBe(69)
    expect(ran.stderr).toContain('Cannot reach http://127.0.0.1:1')
  })

  test('ends with 64 when the file of the key is not there', async () => {
    const ran = await simulate(['--key-file', join(folder.path, 'missing')])
    expect([ran.exitCode, ran.stdout]).toEqual([64, ''])
  })
})

describe('runDevices()', () => {
  test('finishes open posts when it is stopped, and begins none', async () => {
    const stop = new AbortController()
    let asked = 0
    let answered = 0
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async () => {
        asked++
        stop.abort()
        answered++
        return Response.json({ status: 'success' })
      },
    })
    const tally = newTally()
    const random = (): number => 0
    const now = (): number => Date.now()
    const url = server.url.origin
    await runDevices(
      { url, key: 'k', cellar: 'c', devices: 3, ratePerSecond: 3, batch: 1, stop: stop.signal, random, now },
      tally,
    )
    expect(tally).toMatchObject({ accepted: asked, unanswered: 0 })
    expect(answered).toBe(asked)
    expect(asked).toBeLessThanOrEqual(3)
    await server.stop(true)
  })

  test('follow no redirect, which would get the key', async () => {
    const stop = new AbortController()
    const paths: string[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => {
        stop.abort()
        paths.push(new URL(url).pathname)
        return Response.redirect('/elsewhere', 308)
      },
    })
    const tally = newTally()
    const one = { cellar: 'c', devices: 1, ratePerSecond: 1, batch: 1, random: () => 0, now: () => Date.now() }
    await runDevices({ ...one, url: server.url.origin, key: 'k', stop: stop.signal }, tally)
    expect(paths).toEqual(['/api/v1/ingest'])
    expect(tally).toMatchObject({ accepted: 0, unanswered: 1 })
    expect(tally.lastFault).toContain('edirect')
    await server.stop(true)
  })

  test('collects readings for a batch, and counts the outcome of each', async () => {
    const stop = new AbortController()
    const small = await service.createKey({ limit: { readings: 7, windowMs: 60_000 } })
    const sizes: number[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        const { readings } = Object(await request.json())
        sizes.push(readings.length)
        if (sizes.length === 2) stop.abort()
        // In the first batch, 7 is no reading, so one item is invalid. The second batch exceeds the key's limit of 7 readings.
        return service.postBatch(sizes.length === 1 ? [7, ...readings.slice(1)] : readings, small.key)
      },
    })
    const tally = newTally()
    const options = {
      key: small.key,
      cellar: testCellar,
      devices: 1,
      ratePerSecond: 1_000,
      batch: 5,
      stop: stop.signal,
    }
    await runDevices({ ...options, url: server.url.origin, random: () => 0, now: () => Date.now() }, tally)
    expect(sizes).toEqual([5, 5])
    expect(tally).toMatchObject({ accepted: 4, unanswered: 0 })
    expect([...tally.refused]).toEqual([
      ['INVALID_BODY', 1],
      ['RATE_LIMITED', 5],
    ])
    await server.stop(true)
  })
})
