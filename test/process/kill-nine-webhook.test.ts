import { expect, setDefaultTimeout, test } from 'bun:test'
import { askedBy } from '../../src/actors/asked-by.ts'
import { openCore } from '../../src/actors/open-core.ts'
import { systemClock } from '../../src/clock.ts'
import { nodesAttentionStream } from '../../src/domain/stream-names.ts'
import { systemEntropy } from '../../src/entropy.ts'
import { openMaster } from '../../src/webhooks/master.ts'
import { newFolder, startProcess } from '../support/cellarbook.ts'
import { openLogOf } from '../support/logs/engine.ts'
import { testAsker } from '../support/test-service.ts'

setDefaultTimeout(600_000)

/** The same for both engines. */
const given = systemEntropy.bytes(32)
const WEBHOOK_MASTER = Buffer.from(given).toString('base64')

/** With one record that is not sent yet. Returns the id of its message. */
const prepare = async (dataDir: string, url: string): Promise<string> => {
  const log = await openLogOf(dataDir)
  const master = () => openMaster({ given, dataDir, hasEmbeddedLog: true, newBytes: null })
  const never = () => Promise.reject(new Error('nothing is sent'))
  const webhooks = { node: 'test', sendsWaiting: false, master, send: never, wordsOf: () => '' }
  const core = await openCore({ log, clock: systemClock, entropy: systemEntropy, webhooks })
  const made = await core.webhooks.set({ webhookId: null, url, kinds: [] }, testAsker)
  expect(made.ok).toBe(true)
  await core.drain()
  const id = systemEntropy.uuid()
  // This node leaves the lines of others as they are.
  const line = { kind: 'backup_old', sinceMs: Date.now(), node: 'other', seenMs: Date.now() } as const
  const data = { cellar: null, began: [line], ended: [], now: [line], more: 0 }
  const metadata = askedBy({ by: { kind: 'system' }, requestId: 'test' })
  const event = { id, type: 'AttentionChanged', recordedAt: Date.now(), data, metadata } as const
  await log.append(nodesAttentionStream, 'none', [event])
  await log.close()
  return `msg_${id}`
}

test('kill -9 during a delivery sends the message once more, with the same id', async () => {
  const folder = newFolder()
  const received: { readonly id: string; readonly body: unknown; readonly process: number }[] = []
  let runs = 0
  let onReceived = (): void => {}
  /** A loop would keep a processor busy for most of a minute. */
  const untilReceived = async (count: number): Promise<void> => {
    while (received.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      onReceived = resolve
      await promise
    }
  }
  using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (request) => {
      received.push({ id: request.headers.get('webhook-id') ?? '', body: await request.json(), process: runs })
      onReceived()
      return runs === 1 ? new Promise<Response>(() => {}) : new Response('thanks')
    },
  })
  const id = await prepare(folder.path, `http://127.0.0.1:${receiver.port}/hook`)
  runs = 1
  const killed = await startProcess(folder.path, { environment: { WEBHOOK_MASTER } })
  await untilReceived(1)
  killed.signal('SIGKILL')
  await killed.exited
  runs = 2
  const service = await startProcess(folder.path, { environment: { WEBHOOK_MASTER } })
  await untilReceived(2)
  expect(await service.stop()).toBe(0)
  expect(received).toMatchObject([
    { id, process: 1 },
    { id, process: 2, body: { data: { text: expect.stringContaining('Node other: no backup was made for a week.') } } },
  ])
  const next = await startProcess(folder.path, { environment: { WEBHOOK_MASTER } })
  await next.stop()
  expect(received).toHaveLength(2)
  folder.remove()
})
