/**
 * Checks that each fault of the test log server really happens. Otherwise the tests that plan this fault would prove
 * nothing.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { selfSigned } from '../certificate.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type LogCluster, startLogCluster } from './cluster.ts'
import { type LogServer, startLogServer } from './server.ts'
import type { AppendFault } from './server-faults.ts'

const running: (LogServer | LogCluster)[] = []
// The clients are not disposed: `dispose` would wait forever for an append whose answer is lost.
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

const start = async (...options: Parameters<typeof startLogServer>): Promise<LogServer> => {
  const server = await startLogServer(...options)
  running.push(server)
  return server
}
const startCluster = async (): Promise<LogCluster> => {
  const cluster = await startLogCluster()
  running.push(cluster)
  return cluster
}
const clientOf = ({ url }: LogServer | LogCluster, options = ''): EventStoreDBClient =>
  EventStoreDBClient.connectionString(`${url}${options}`)
const noticesSilence = '&keepAliveInterval=200&keepAliveTimeout=200'

const append = async (client: EventStoreDBClient, stream: string, options = {}): Promise<string> => {
  const event = jsonEvent({ type: 'Something', data: {} })
  try {
    await client.appendToStream(stream, event, { expectedRevision: 'no_stream', ...options })
    return 'written'
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return 'type' in error && typeof error.type === 'string' ? error.type : error.message
  }
}
const isStored = ({ state }: LogServer | LogCluster, stream: string): boolean => state.stream(stream) !== null
/** Plans a fault for the append to `stream`. Resolves when the append has met it. */
const plan = ({ faults }: LogServer, stream: string, fault: AppendFault): Promise<void> =>
  new Promise((resolve) => {
    faults.ofAppend = (append) => {
      if (append.stream !== stream) return null
      resolve()
      return fault
    }
  })

describe('an append', () => {
  for (const isWritten of [true, false]) {
    const not = isWritten ? '' : ' not'
    test(`whose connection is cut is${not} written, which the client can't know`, async () => {
      const server = await start()
      const client = clientOf(server)
      await append(client, 'first')
      void plan(server, 'cut', { isWritten, ends: 'cut' })
      expect(await append(client, 'cut')).toBe('unavailable')
      expect(isStored(server, 'cut')).toBe(isWritten)
      expect(await append(client, 'next')).toBe('written')
    })

    test(`that the server gives up on is${not} written`, async () => {
      const server = await start()
      void plan(server, 'late', { isWritten, ends: 'timeout' })
      expect(await append(clientOf(server), 'late')).toBe('deadline-exceeded')
      expect(isStored(server, 'late')).toBe(isWritten)
    })

    test(`without an answer is${not} written, and others are answered`, async () => {
      const server = await start()
      const client = clientOf(server)
      const met = plan(server, 'unheard', { isWritten, ends: 'silence' })
      const answers: string[] = []
      void append(client, 'unheard').then((answer) => answers.push(answer))
      await met
      expect(await append(client, 'heard')).toBe('written')
      expect(isStored(server, 'unheard')).toBe(isWritten)
      expect(answers).toEqual([])
    })

    test(`whose call ends cleanly is${not} written, and later appends are lost`, async () => {
      const server = await start()
      const client = clientOf(server)
      const met = plan(server, 'swallowed', { isWritten, ends: 'clean_end' })
      const answers: string[] = []
      void append(client, 'swallowed').then((answer) => answers.push(answer))
      await met
      // This read lets time pass: when it is answered, the call of the first append has already ended.
      await client.getStreamMetadata('a')
      void append(client, 'after').then((answer) => answers.push(answer))
      await client.getStreamMetadata('a')
      expect(isStored(server, 'swallowed')).toBe(isWritten)
      expect(isStored(server, 'after')).toBe(false)
      expect(answers).toEqual([])
    })
  }

  test('to a server that is not ready is refused, like a read', async () => {
    const server = await start()
    const client = clientOf(server)
    server.faults.isReady = () => false
    expect(await append(client, 'early')).toBe('unknown')
    const failure = await client.getStreamMetadata('early').catch((cause: unknown) => cause)
    expect(failure).toMatchObject({ type: 'unavailable' })
    server.faults.isReady = () => true
    expect(await append(client, 'early')).toBe('written')
  })

  test('waits at the gate, and is not judged when the server dies', async () => {
    const server = await start()
    const client = clientOf(server)
    const gate = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    server.faults.beforeAppend = () => {
      arrived.resolve()
      return gate.promise
    }
    const waiting = append(client, 'held')
    await arrived.promise
    await server.kill()
    expect(await waiting).toBe('unavailable')
    gate.resolve()
    await server.restart()
    server.faults.beforeAppend = null
    expect(isStored(server, 'held')).toBe(false)
    expect(await untilWritten(client, 'back')).toBe('written')
  })
})

/** Repeats the append, because a client that has lost its server waits before it looks for a server again. */
const untilWritten = async (client: EventStoreDBClient, stream: string): Promise<string> => {
  let answer = await append(client, stream)
  while (answer !== 'written' && answer !== 'wrong-expected-version') answer = await append(client, stream)
  return answer
}

describe('a server', () => {
  test('that falls silent answers no ping, and may write later', async () => {
    const server = await start()
    const client = clientOf(server, noticesSilence)
    await append(client, 'first')
    server.silence()
    expect(await append(client, 'unheard')).toBe('unavailable')
    expect(isStored(server, 'unheard')).toBe(false)
    server.speak()
    expect(await untilWritten(client, 'unheard')).not.toBe('unavailable')
    expect(server.state.stream('unheard')).toHaveLength(1)
  })

  test('that is killed comes back with its log on the same port', async () => {
    const server = await start()
    const client = clientOf(server)
    await append(client, 'kept')
    await server.kill()
    expect(await append(client, 'lost')).toMatch(/unavailable/i)
    await server.restart()
    expect(await untilWritten(client, 'next')).toBe('written')
    expect(isStored(server, 'kept')).toBe(true)
  })

  test('hides events that are not indexed, though they are written', async () => {
    const server = await start()
    const client = clientOf(server)
    await append(client, 'written')
    const shown = async (): Promise<number> => {
      let count = 0
      for await (const _ of client.readStream('written')) count += 1
      return count
    }
    server.faults.unindexed = () => 1
    expect(await shown()).toBe(0)
    expect(await append(client, 'written')).toBe('wrong-expected-version')
    server.faults.unindexed = () => 0
    expect(await shown()).toBe(1)
  })

  test('drops subscriptions as too slow', async () => {
    const server = await start()
    const subscription = clientOf(server).subscribeToAll()
    await new Promise((resolve) => subscription.once('caughtUp', resolve))
    const dropped = new Promise((resolve) => subscription.once('error', resolve))
    server.faults.dropSubscriptions()
    expect(await dropped).toMatchObject({ type: 'timeout' })
    expect(String(await dropped)).toContain('Consumer too slow')
    expect(server.faults.subscriptions).toBe(0)
  })

  test('with users denies access to others', async () => {
    const folder = temporaryFolder()
    const caPath = join(folder.path, 'ca.pem')
    const tls = selfSigned()
    writeFileSync(caPath, tls.cert)
    const server = await start({ tls, user: { username: 'writer', password: 'right' } })
    const clientAs = (user: string) =>
      EventStoreDBClient.connectionString(`${server.url.replace('://', `://${user}`)}&tlsCaFile=${caPath}`)
    expect(await append(clientAs('writer:right@'), 'allowed')).toBe('written')
    expect(await append(clientAs('writer:wrong@'), 'denied')).toBe('access-denied')
    expect(await append(clientAs(''), 'denied')).toBe('access-denied')
    expect(isStored(server, 'denied')).toBe(false)
    folder.remove()
  })
})

describe('a cluster', () => {
  test('shows one log on every server, and a client finds the leader', async () => {
    const cluster = await startCluster()
    expect(await append(clientOf(cluster), 'anywhere', { requiresLeader: true })).toBe('written')
    for (const server of cluster.servers) expect(isStored(server, 'anywhere')).toBe(true)
  })

  test('has followers that name the leader, or write if none is required', async () => {
    const cluster = await startCluster()
    const [leader, follower] = cluster.servers
    if (leader === undefined || follower === undefined) throw new Error('too few servers')
    const client = clientOf(follower)
    const failure = await client.getStreamMetadata('a', { requiresLeader: true }).catch((cause: unknown) => cause)
    expect(failure).toMatchObject({
      type: 'not-leader',
      leader: { address: leader.endpoint.host, port: leader.endpoint.port },
    })
    expect(await append(clientOf(follower), 'forwarded')).toBe('written')
    expect(isStored(cluster, 'forwarded')).toBe(true)
  })

  test('fails appends that require the leader when it stops leading', async () => {
    const cluster = await startCluster()
    const [first, second] = cluster.servers
    if (first === undefined || second === undefined) throw new Error('too few servers')
    const client = clientOf(first)
    expect(await append(client, 'before', { requiresLeader: true })).toBe('written')
    cluster.elect(second)
    expect(await append(client, 'after', { requiresLeader: true })).toBe('not-leader')
    expect(isStored(cluster, 'after')).toBe(false)
  })

  test('without a leader writes nothing, and continues under a new one', async () => {
    const cluster = await startCluster()
    const [, next] = cluster.servers
    if (next === undefined) throw new Error('too few servers')
    const client = clientOf(next)
    expect(await append(client, 'before')).toBe('written')
    cluster.depose()
    expect(await append(client, 'between')).toBe('unknown')
    for await (const { event } of client.readStream('before', { requiresLeader: false }))
      expect(event?.revision).toBe(0n)
    const failure = await client.getStreamMetadata('before', { requiresLeader: true }).catch((cause: unknown) => cause)
    expect(String(failure)).toContain('Server Is Not Ready')
    cluster.elect(next)
    expect(await append(client, 'between', { requiresLeader: true })).toBe('written')
  })
})
