import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { Elysia } from 'elysia'
import { UnfinishedBodies } from '../../src/http/unfinished-bodies.ts'
import { Listener, leaveMs } from '../../src/listen/listener.ts'
import type { Certificate } from '../../src/listen/read-certificate.ts'
import { selfSigned } from '../support/certificate.ts'
import { type RawConnection, rawConnect } from '../support/raw-http.ts'
import { type DrivenSchedule, drivenSchedule } from '../support/time/driven-schedule.ts'

const certificate = (): Certificate => ({ ...selfSigned(), beginsAtMs: 0, endsAtMs: 1 })
const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const linkLocal = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
  addresses.filter(({ address }) => address.startsWith('fe80:')).map(({ address }) => `${address}%${name}`),
)

let schedule: DrivenSchedule
let listener: Listener
let connections: RawConnection[]

const listenAt = (hostname: string): void => {
  const downloads = { servedBy: () => {}, count: 0, close: async () => {} }
  const routes = new Elysia().get('/', () => 'hello')
  const app = { routes, bodies: new UnfinishedBodies(schedule), downloads }
  listener = new Listener(app, { hostname, port: 0 }, certificate(), schedule)
}

const connected = async (): Promise<RawConnection> => {
  const connection = await rawConnect(`https://localhost:${listener.port}`)
  connections.push(connection)
  return connection
}

beforeEach(() => {
  schedule = drivenSchedule()
  connections = []
})
afterEach(async () => {
  for (const connection of connections) connection.drop()
  await listener.stop()
})

describe.skipIf(process.platform !== 'linux')('Listener', () => {
  test.each(['127.0.0.1', 'localhost', '0.0.0.0', '::'])(
    'at %s hands new connections over, again and again',
    async (hostname) => {
      listenAt(hostname)
      for (let renewals = 0; renewals < 3; renewals += 1) {
        expect(listener.replaceCertificate(certificate())).toBe(true)
        expect(listener.replaceCertificate(certificate())).toBe(false)
        await (await connected()).send(request)
        expect((await connections.at(-1)?.answers(1))?.[0]?.status).toBe(200)
        await schedule.advance(leaveMs)
      }
    },
  )

  test.skipIf(linkLocal.length === 0)('hands a link-local address over', () => {
    listenAt(linkLocal[0] ?? '')
    expect(listener.replaceCertificate(certificate())).toBe(true)
  })

  test('answers on a connection of the former server, and asks the client to leave', async () => {
    listenAt('127.0.0.1')
    const [used, unused] = [await connected(), await connected()]
    await used.send(request)
    expect((await used.answers(1))[0]?.headers.get('connection')).toBeUndefined()
    listener.replaceCertificate(certificate())
    await schedule.advance(leaveMs - 1)
    for (const [connection, answers] of [[used, 2] as const, [unused, 1] as const]) {
      await connection.send(request)
      const last = (await connection.answers(answers)).at(-1)
      expect([last?.status, last?.headers.get('connection'), last?.body]).toEqual([200, 'close', 'hello'])
    }
  })

  test('refuses another service on its port, also after a renewal', async () => {
    listenAt('127.0.0.1')
    listener.replaceCertificate(certificate())
    await schedule.advance(leaveMs)
    const other = () => Bun.serve({ hostname: '127.0.0.1', port: listener.port, fetch: () => new Response('') })
    expect(other).toThrow(/in use/)
  })
})
