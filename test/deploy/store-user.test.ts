import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { EventStoreDBClient } from '@eventstore/db-client'
import { letReadAll, type ManagedStore, makeUser } from '../../deploy/store-user.ts'
import { selfSigned } from '../support/certificate.ts'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'

setDefaultTimeout(600_000)

const user = { name: 'cellarbook', password: 'chosen' }
const tls = selfSigned()

const nodes: Bun.Server<unknown>[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop(true)
})

const nodeThat = (answer: (path: string) => Response) => {
  const asked: { path: string; authorization: string | null; body: unknown }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      asked.push({ path, authorization: request.headers.get('authorization'), body: await request.json() })
      return answer(path)
    },
  })
  nodes.push(server)
  return { url: server.url.origin, asked }
}

const storeOf = (...nodes: readonly { readonly url: string }[]): ManagedStore => ({
  urls: nodes.map(({ url }) => url),
  admin: 'admin:secret',
  ca: tls.cert,
})

const status = (code: number) => () => new Response(null, { status: code })
const authorization = `Basic ${Buffer.from('admin:secret').toString('base64')}`

describe('makeUser()', () => {
  test('creates a user in no group on the leader, and follows no redirect', async () => {
    const stranger = nodeThat(status(201))
    const follower = nodeThat(() => Response.redirect(`${stranger.url}/users`, 307))
    const leader = nodeThat(status(201))
    const last = nodeThat(status(201))
    await makeUser(storeOf(follower, leader, last), user)
    const body = { LoginName: 'cellarbook', FullName: 'Cellarbook', Groups: [], Password: 'chosen' }
    expect(leader.asked).toEqual([{ path: '/users', authorization, body }])
    expect(last.asked).toEqual([])
    expect(stranger.asked).toEqual([])
  })

  test('gives an existing user the new password', async () => {
    const leader = nodeThat((path) => new Response(null, { status: path === '/users' ? 409 : 200 }))
    await makeUser(storeOf(leader), user)
    expect(leader.asked.at(-1)).toEqual({
      path: '/users/cellarbook/command/reset-password',
      authorization,
      body: { NewPassword: 'chosen' },
    })
  })

  test('reports the answer of each node, and sends unknown nodes no password', async () => {
    const [notReady, refuses] = [nodeThat(status(503)), nodeThat(status(401))]
    const store = storeOf(notReady, refuses)
    await expect(makeUser(store, user)).rejects.toThrow(`${notReady.url}: 503, ${refuses.url}: 401`)
    const stranger = nodeThat(status(201))
    const made = makeUser({ ...storeOf(stranger), ca: selfSigned().cert }, user)
    await expect(made).rejects.toThrow('Cannot make the user')
    expect(stranger.asked).toEqual([])
  })
})

describe('letReadAll()', () => {
  const onServer = async (story: (client: EventStoreDBClient, server: LogServer) => Promise<void>): Promise<void> => {
    const server = await startLogServer()
    const client = EventStoreDBClient.connectionString(server.url)
    try {
      await story(client, server)
    } finally {
      await client.dispose()
      await server.stop()
    }
  }
  const aclOfAll = async (client: EventStoreDBClient) => (await client.getStreamMetadata('$all')).metadata

  test('lets the user read $all beside the admins, once', () =>
    onServer(async (client) => {
      await letReadAll(client, 'cellarbook')
      const first = await client.getStreamMetadata('$all')
      expect(first.metadata).toEqual({ acl: { readRoles: ['$admins', 'cellarbook'] } })
      await letReadAll(client, 'cellarbook')
      expect((await client.getStreamMetadata('$all')).metastreamRevision).toBe(first.metastreamRevision)
    }))

  test('keeps the other readers and settings', () =>
    onServer(async (client) => {
      const acl = { readRoles: ['$ops'], metaReadRoles: ['$ops'] }
      await client.setStreamMetadata('$all', { acl, maxCount: 7 })
      await letReadAll(client, 'cellarbook')
      expect(await aclOfAll(client)).toEqual({ acl: { ...acl, readRoles: ['$ops', 'cellarbook'] }, maxCount: 7 })
    }))
})
