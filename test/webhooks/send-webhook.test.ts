import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Sent } from '../../src/actors/webhooks/webhook-parts.ts'
import { webhookAnswerCharsMax, webhookMsMax } from '../../src/limits.ts'
import { type SendSettings, sendWebhook, type WebhookRequest } from '../../src/webhooks/send-webhook.ts'
import { type Certificate, selfSigned } from '../support/certificate.ts'
import { type DrivenSchedule, drivenSchedule } from '../support/time/driven-schedule.ts'

type Listener = { readonly port: number; readonly sockets: readonly Socket[]; readonly heard: () => string }

let servers: Server[]
let schedule: DrivenSchedule

/** Calls `answer` when the first bytes of a request have come. */
const listening = async (answer: (socket: Socket) => void, certificate?: Certificate): Promise<Listener> => {
  const sockets: Socket[] = []
  let heard = ''
  const take = (socket: Socket): void => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard += bytes
    })
    socket.once('data', () => answer(socket))
  }
  const server = certificate === undefined ? createServer(take) : createTlsServer(certificate, take)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  return { port: address.port, sockets, heard: () => heard }
}

const answering = (text: string, certificate?: Certificate): Promise<Listener> =>
  listening((socket) => socket.end(text), certificate)

/** Sends `piece` until the connection is closed. */
const endless = (first: string, piece: string) => (socket: Socket) => {
  socket.write(first)
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more)
  }
  more()
}

const send = (url: string, settings: Partial<SendSettings> = {}, request: Partial<WebhookRequest> = {}) =>
  sendWebhook(
    { url, headers: { 'webhook-id': 'msg_1' }, body: '{}', ...request },
    { privateAddresses: 'refuse', schedule, resolve: noName, ...settings },
  )

const noName = async (name: string): Promise<never> => {
  throw new Error(`"${name}" must not be looked up`)
}

/** Sends, and lets the time pass when `begun` resolves. */
const sendUntilTheEnd = async (url: string, begun: Promise<unknown>): Promise<Sent> => {
  const sent = send(url)
  await begun
  await schedule.advance(webhookMsMax - 1)
  expect(Bun.peek.status(sent)).toBe('pending')
  await schedule.advance(1)
  return sent
}

const closed = (socket: Socket | undefined): Promise<void> =>
  new Promise((resolve) => (socket === undefined || socket.destroyed ? resolve() : socket.once('close', resolve)))

beforeEach(() => {
  servers = []
  schedule = drivenSchedule()
})
afterEach(() => {
  for (const server of servers) server.close()
})

describe('sendWebhook()', () => {
  test('sends one request with its headers, and returns the answer on one line', async () => {
    const listener = await answering('HTTP/1.1 202 Accepted\r\ncontent-length: 15\r\n\r\nthank\r\n \u202eyou\n')
    const sent = await send(`http://127.0.0.1:${listener.port}/a?b=c`)
    expect(sent).toEqual({ status: 202, answer: 'thank you', why: null, tookMs: expect.any(Number) })
    const [line, ...headers] = listener.heard().split('\r\n')
    expect(line).toBe('POST /a?b=c HTTP/1.1')
    expect(headers.map((header) => header.toLowerCase())).toEqual(
      expect.arrayContaining([`host: 127.0.0.1:${listener.port}`, 'webhook-id: msg_1', 'accept-encoding: identity']),
    )
  })

  test('returns any other status as it came', async () => {
    const listener = await answering('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n')
    expect(await send(`http://127.0.0.1:${listener.port}/`)).toMatchObject({ status: 410, answer: '', why: null })
  })

  test('finds localhost without a resolver', async () => {
    const listener = await answering('HTTP/1.1 204 No Content\r\n\r\n')
    expect((await send(`http://localhost.:${listener.port}/`)).status).toBe(204)
    expect(listener.heard().toLowerCase()).toContain(`host: localhost:${listener.port}\r\n`)
  })

  test('looks a name up once, and connects to the address that was checked', async () => {
    const named = selfSigned('ec', undefined, 'hooks.example')
    const listener = await answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', named)
    const asked: string[] = []
    const resolve = async (name: string): Promise<readonly string[]> => {
      asked.push(name)
      return asked.length === 1 ? ['127.0.0.1'] : ['169.254.169.254']
    }
    const settings = { privateAddresses: 'allow', resolve, authority: named.cert } as const
    expect(await send(`https://hooks.example.:${listener.port}/`, settings)).toMatchObject({ status: 200, why: null })
    expect(asked).toEqual(['hooks.example'])
    expect(listener.heard().toLowerCase()).toContain(`host: hooks.example:${listener.port}\r\n`)
  })

  test('refuses a name with one private address among public ones', async () => {
    const listener = await answering('HTTP/1.1 200 OK\r\n\r\n')
    const resolve = async () => ['93.184.216.34', '127.0.0.1']
    const sent = await send(`https://hooks.example:${listener.port}/`, { resolve })
    expect(sent).toMatchObject({ status: null, why: 'hooks.example is 127.0.0.1, which is not a public address' })
    expect(listener.sockets).toEqual([])
  })

  test.each(['https://10.0.0.1/', 'https://[::ffff:127.0.0.1]/', 'https://[fe80::1]/'])('refuses %s', async (url) => {
    expect(await send(url)).toMatchObject({ status: null, why: expect.stringContaining('is not a public address') })
  })

  test('refuses the certificate of another name', async () => {
    const other = selfSigned('ec', undefined, 'other.example')
    const listener = await answering('HTTP/1.1 200 OK\r\n\r\n', other)
    const settings = {
      privateAddresses: 'allow',
      resolve: async () => ['127.0.0.1'],
      authority: other.cert,
    } as const
    const sent = await send(`https://hooks.example:${listener.port}/`, settings)
    expect(sent).toMatchObject({ status: null, why: 'The certificate is for another name' })
    expect(listener.heard()).toBe('')
  })

  test('refuses a certificate that nobody trusts, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const listener = await answering('HTTP/1.1 200 OK\r\n\r\n', selfSigned())
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      const sent = await send(`https://localhost:${listener.port}/`)
      expect(sent).toMatchObject({ status: null, why: 'No answer: DEPTH_ZERO_SELF_SIGNED_CERT' })
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    }
  })

  test('uses no proxy of the environment', async () => {
    const proxy = await answering('HTTP/1.1 200 OK\r\n\r\nproxy')
    const listener = await answering('HTTP/1.1 200 OK\r\n\r\ndirect')
    process.env['HTTP_PROXY'] = `http://127.0.0.1:${proxy.port}`
    try {
      expect((await send(`http://127.0.0.1:${listener.port}/`)).answer).toBe('direct')
    } finally {
      delete process.env['HTTP_PROXY']
    }
  })

  test('follows no redirect', async () => {
    const target = await answering('HTTP/1.1 200 OK\r\n\r\n')
    const location = `location: http://127.0.0.1:${target.port}/`
    const listener = await answering(`HTTP/1.1 307 Temporary Redirect\r\n${location}\r\ncontent-length: 0\r\n\r\n`)
    const sent = await send(`http://127.0.0.1:${listener.port}/`)
    expect(sent).toMatchObject({ status: 307, why: expect.stringContaining('redirect') })
    expect(target.sockets).toEqual([])
  })

  test('tries the next address if nothing listens at the first', async () => {
    const named = selfSigned('ec', undefined, 'hooks.example')
    const listener = await answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', named)
    const settings = { privateAddresses: 'allow', authority: named.cert } as const
    const url = `https://hooks.example:${listener.port}/`
    const two = await send(url, { ...settings, resolve: async () => ['127.0.0.2', '127.0.0.1'] })
    expect(two.status).toBe(200)
    const five = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.1']
    const tooMany = await send(url, { ...settings, resolve: async () => five })
    expect(tooMany).toMatchObject({ status: null, why: 'Nothing listens at this address' })
  })

  test('does not send again if the connection is reset', async () => {
    const named = selfSigned('ec', undefined, 'hooks.example')
    const listener = await listening((socket) => socket.destroy(), named)
    const resolve = async () => ['127.0.0.1', '127.0.0.1']
    const settings = { privateAddresses: 'allow', authority: named.cert, resolve } as const
    const sent = await send(`https://hooks.example:${listener.port}/`, settings)
    expect(sent).toMatchObject({ status: null, why: 'The connection was closed without an answer' })
    expect(listener.sockets).toHaveLength(1)
  })

  test('opens a connection for each request, and closes it', async () => {
    const listener = await listening((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
    const url = `http://127.0.0.1:${listener.port}/`
    expect([(await send(url)).status, (await send(url)).status]).toEqual([200, 200])
    expect(listener.sockets).toHaveLength(2)
    await Promise.all(listener.sockets.map(closed))
  })

  test('says why a name has no address', async () => {
    const resolve = async (): Promise<never> => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    expect((await send('https://hooks.example/', { resolve })).why).toBe('The name has no address')
    expect((await send('https://hooks.example/', { resolve: async () => [] })).why).toBe('hooks.example has no address')
  })

  describe('with a server that does not end', () => {
    test.each([
      ['sends nothing', '', 'http'],
      ['opens half of TLS', '', 'https'],
      ['sends half of a header', 'HTTP/1.1 200 OK\r\na: b', 'http'],
      ['announces its answer for ever', 'HTTP/1.1 100 Continue\r\n\r\n', 'http'],
    ])('gives up after its time when it %s', async (_, text, scheme) => {
      const begun = Promise.withResolvers<void>()
      const listener = await listening((socket) => {
        socket.write(text)
        begun.resolve()
      })
      const sent = await sendUntilTheEnd(`${scheme}://127.0.0.1:${listener.port}/`, begun.promise)
      expect(sent).toMatchObject({ status: null, answer: null, why: 'No answer within 15 s' })
      await closed(listener.sockets[0])
    })

    test('gives up after its time when a resolver does not answer', async () => {
      const sent = send('https://hooks.example/', { resolve: () => new Promise(() => {}) })
      await schedule.advance(webhookMsMax)
      expect((await sent).why).toBe('No answer within 15 s')
    })

    test('keeps the status when the answer comes slowly', async () => {
      const listener = await listening((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nslow'))
      const answered = Promise.withResolvers<void>()
      const { fetch: systemFetch } = globalThis
      const spied = async (...[url, options]: Parameters<typeof fetch>): Promise<Response> => {
        const response = await systemFetch(url, options)
        answered.resolve()
        return response
      }
      using _ = spyOn(globalThis, 'fetch').mockImplementation(Object.assign(spied, systemFetch))
      const sent = await sendUntilTheEnd(`http://127.0.0.1:${listener.port}/`, answered.promise)
      expect(sent).toMatchObject({ status: 200, answer: expect.any(String), why: null })
      await closed(listener.sockets[0])
    })

    test('reads only the beginning of an endless answer', async () => {
      const listener = await listening(endless('HTTP/1.1 500 No\r\n\r\n', 'no '.repeat(20_000)))
      const sent = await send(`http://127.0.0.1:${listener.port}/`)
      expect(sent).toMatchObject({
        status: 500,
        answer: 'no '.repeat(webhookAnswerCharsMax).slice(0, webhookAnswerCharsMax),
      })
      await closed(listener.sockets[0])
    })

    test('closes the connection when it has read enough', async () => {
      const listener = await listening((socket) => socket.write(`HTTP/1.1 500 No\r\n\r\n${'no '.repeat(20_000)}`))
      expect((await send(`http://127.0.0.1:${listener.port}/`)).status).toBe(500)
      await closed(listener.sockets[0])
    })

    test('refuses endless headers', async () => {
      const listener = await listening(endless('HTTP/1.1 200 OK\r\n', `a: ${'b'.repeat(60_000)}\r\n`))
      const sent = await send(`http://127.0.0.1:${listener.port}/`)
      expect(sent).toMatchObject({ status: null, why: 'The headers of the answer are too large' })
      await closed(listener.sockets[0])
    })

    test('ends when it is aborted, and closes the connection', async () => {
      const begun = Promise.withResolvers<void>()
      const listener = await listening(() => begun.resolve())
      const drain = new AbortController()
      const sent = send(`http://127.0.0.1:${listener.port}/`, {}, { signal: drain.signal })
      await begun.promise
      drain.abort()
      expect(await sent).toMatchObject({ status: null, why: 'The service stopped' })
      await closed(listener.sockets[0])
      expect((await send(`http://127.0.0.1:${listener.port}/`, {}, { signal: drain.signal })).why).toBe(
        'The service stopped',
      )
    })
  })

  test('does not unpack an answer', async () => {
    const packed = Bun.gzipSync(Buffer.alloc(10_000_000, 'a'))
    const listener = await listening((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`)
      socket.end(packed)
    })
    const { status, answer } = await send(`http://127.0.0.1:${listener.port}/`)
    expect([status, answer]).toEqual([200, expect.not.stringContaining('aaaa')])
  })

  test('says that an answer is not HTTP', async () => {
    const listener = await answering('SSH-2.0-OpenSSH_9.6\r\n')
    expect((await send(`http://127.0.0.1:${listener.port}/`)).why).toBe('The answer is not HTTP')
  })
})
