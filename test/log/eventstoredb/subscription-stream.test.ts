import { afterEach, describe, expect, test } from 'bun:test'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { credentials, Metadata } from '@grpc/grpc-js'
import { eventStoreMessageBytesMax } from '../../../src/log/eventstoredb/eventstoredb-bounds.ts'
import { SubscriptionStream } from '../../../src/log/eventstoredb/subscription-stream.ts'

const slowMs = 60_000
const access = { channel: credentials.createInsecure(), metadata: new Metadata(), tls: null }
const headBytes = 5

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const listening = async (server: Server | ReturnType<typeof createHttp2Server>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has no port')
  return (address satisfies AddressInfo).port
}

const hear = (port: number) => {
  const lengths: number[] = []
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<void>()
  const receiver = {
    onMessage: (bytes: Buffer) => {
      lengths.push(bytes.length)
      heard.resolve()
    },
    onEnd: resolve,
  }
  const hearing = new SubscriptionStream({ host: '127.0.0.1', port }, access, receiver, new Uint8Array())
  ends.push(() => hearing.end())
  return { lengths, ended, heard: heard.promise }
}

/** Starts a server that announces a message of `saidBytes` bytes, and then sends `body`. */
const speaking = (saidBytes: number, body: Uint8Array): Promise<number> => {
  const server = createHttp2Server()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.on('error', () => {})
    const head = Buffer.alloc(headBytes)
    head.writeUInt32BE(saidBytes, 1)
    stream.write(head)
    stream.write(body)
  })
  return listening(server)
}

describe('SubscriptionStream', () => {
  test(
    'ends when its server answers no ping',
    async () => {
      const port = await listening(createTcpServer((socket) => socket.on('error', () => {}).resume()))
      const { ended, lengths } = hear(port)
      await ended
      expect(lengths).toEqual([])
    },
    slowMs,
  )

  test(
    'accepts a message at the limit, and ends at one byte more',
    async () => {
      const bytesMax = eventStoreMessageBytesMax - headBytes
      const atTheBound = hear(await speaking(bytesMax, new Uint8Array(bytesMax)))
      await atTheBound.heard
      expect(atTheBound.lengths).toEqual([bytesMax])

      const past = hear(await speaking(bytesMax + 1, new Uint8Array(headBytes)))
      await past.ended
      expect(past.lengths).toEqual([])
    },
    slowMs,
  )
})
