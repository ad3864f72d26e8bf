/** A start that fails says why in one sentence, ends with the right exit code, and shows nothing of the password. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logStream } from '../../src/domain/stream-names.ts'
import { eventStoreAppendBytesMax } from '../../src/log/eventstoredb/eventstoredb-bounds.ts'
import { cellarbook, newFolder, startProcess } from '../support/cellarbook.ts'
import { selfSigned } from '../support/certificate.ts'
import { startLogCluster } from '../support/log-server/cluster.ts'
import { type LogServerOptions, startLogServer } from '../support/log-server/server.ts'

// If no server leads, a start searches for some seconds before it gives up.
setDefaultTimeout(600_000)

const folder = newFolder()
const certificate = selfSigned()
const caPath = join(folder.path, 'ca.pem')
beforeAll(() => writeFileSync(caPath, certificate.cert))
afterAll(() => folder.remove())

const opened: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const { stop } of opened.splice(0)) await stop()
})

const start = async (options: LogServerOptions = {}) => {
  const server = await startLogServer(options)
  opened.push(server)
  return server
}
const startCluster = async () => {
  const cluster = await startLogCluster()
  opened.push(cluster)
  return cluster
}

const user = { username: 'writer', password: 'right4Bordeaux' }
const wrongPassword = 'wrong4Burgundy'

let folders = 0
const environmentAt = (url: string, prefix = '') => ({
  DATA_DIR: join(folder.path, `data-${folders++}`),
  EVENTSTORE_URL: url,
  EVENTSTORE_PREFIX: prefix,
})

const as = (url: string, password: string): string => url.replace('//', `//${user.username}:${password}@`)

const refusedAt = async (url: string, password = user.password) => {
  const { exitCode, stdout, stderr } = await cellarbook(['serve'], environmentAt(as(url, password)))
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^cellarbook: [^\n]+\n$/)
  const basic = Buffer.from(`${user.username}:${password}`).toString('base64')
  for (const secret of [password, basic]) expect(stderr).not.toContain(secret)
  return { exitCode, sentence: stderr.slice('cellarbook: '.length, -1) }
}

describe('a start says in one sentence, without the password, that', () => {
  test('no server is there, and exits with 69', async () => {
    const server = await start()
    await server.kill()
    const { host, port } = server.endpoint
    expect(await refusedAt(server.url)).toEqual({
      exitCode: 69,
      sentence: `Cannot reach EventStoreDB: ${host}:${port}: the connection was refused`,
    })
  })

  test('the password is wrong, and exits with 78; with the right one it starts', async () => {
    const server = await start({ tls: certificate, user })
    const url = `${server.url}&tlsCaFile=${caPath}`
    const { exitCode, sentence } = await refusedAt(url, wrongPassword)
    expect(exitCode).toBe(78)
    expect(sentence).toStartWith(
      `EventStoreDB at localhost:${server.endpoint.port} refuses the user name or password in EVENTSTORE_URL: `,
    )
    const { DATA_DIR, ...environment } = environmentAt(as(url, user.password))
    const service = await startProcess(DATA_DIR, { environment })
    expect(await service.stop()).toBe(0)
  })

  test('its user may not read $all, and exits with 78', async () => {
    const server = await start()
    server.faults.denies = (what) => what === 'all'
    const { exitCode, sentence } = await refusedAt(server.url)
    expect(exitCode).toBe(78)
    const { host, port } = server.endpoint
    expect(sentence).toStartWith(`The user in EVENTSTORE_URL may not read $all of EventStoreDB at ${host}:${port}, `)
  })

  test('no known CA signed its certificate, and exits with 78', async () => {
    const server = await start({ tls: certificate, user })
    const { exitCode, sentence } = await refusedAt(server.url)
    expect(exitCode).toBe(78)
    expect(sentence).toStartWith(`Cannot trust EventStoreDB at localhost:${server.endpoint.port}: `)
    expect(sentence).toEndWith('tlsCaFile in EVENTSTORE_URL names the authority that signed its certificate')
  })

  test('a follower knows no leader, and exits with 69; so do all of a cluster', async () => {
    const cluster = await startCluster()
    cluster.depose()
    const [follower] = cluster.servers
    if (follower === undefined) throw new Error('there are no servers')
    const [alone, all] = await Promise.all([refusedAt(follower.url), refusedAt(cluster.url)])
    const places = cluster.servers.map(({ endpoint: { host, port } }) => `${host}:${port}`)
    expect(alone).toEqual({
      exitCode: 69,
      sentence: `Cannot reach EventStoreDB: ${places[0]}: it is not ready: it is starting, or knows no leader`,
    })
    expect(all).toEqual({
      exitCode: 69,
      sentence: `Cannot reach EventStoreDB: ${places.join(', ')}: it follows, and knows no leader`,
    })
  })

  test.each(['22.10.5', '23.9.9'])('version %s is too old, and exits with 78', async (version) => {
    const server = await start({ version })
    expect(await refusedAt(server.url)).toEqual({
      exitCode: 78,
      sentence: `Cannot use EventStoreDB at 127.0.0.1:${server.endpoint.port}: it is version ${version}, and the oldest supported version is 23.10`,
    })
  })

  test('an append may be one byte too small, and exits with 78', async () => {
    const server = await start()
    server.faults.appendBytesMax = eventStoreAppendBytesMax - 1
    const before = server.state.all.length
    expect(await refusedAt(server.url)).toEqual({
      exitCode: 78,
      sentence: `Cannot use EventStoreDB at 127.0.0.1:${server.endpoint.port}: it takes at most 999999 bytes in one append. Set its MaxAppendSize to 1048576, which is its default`,
    })
    expect(server.state.all).toHaveLength(before)
    server.faults.appendBytesMax = eventStoreAppendBytesMax
    const { DATA_DIR, ...environment } = environmentAt(server.url)
    const service = await startProcess(DATA_DIR, { environment })
    expect(await service.stop()).toBe(0)
    expect(server.state.all.some(({ type }) => type === 'AppendSizeAsked')).toBe(false)
  })

  test('another program writes under its prefix, and exits with 78, having written nothing', async () => {
    const server = await start()
    const theirs = {
      id: crypto.randomUUID(),
      type: 'InvoiceSent',
      contentType: 'application/json',
      data: new TextEncoder().encode('{}'),
      metadata: new Uint8Array(),
    }
    server.state.append({ stream: logStream, expected: 'none', events: [theirs] })
    const before = server.state.all.length
    expect(await refusedAt(server.url)).toEqual({
      exitCode: 78,
      sentence: `Cannot use this log: its stream "${logStream}" begins with InvoiceSent, so it belongs to another program`,
    })
    expect(server.state.all).toHaveLength(before)
    const { DATA_DIR, ...environment } = environmentAt(server.url, 'ours-')
    const service = await startProcess(DATA_DIR, { environment })
    expect(await service.stop()).toBe(0)
  })
})
