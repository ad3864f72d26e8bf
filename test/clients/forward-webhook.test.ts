/** Runs docs/programs/forward_webhook.py, which docs/operations.md, "Webhooks", shows to admins. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import type { Sent } from '../../src/actors/webhooks/webhook-parts.ts'
import { secretFrom } from '../../src/webhooks/signature.ts'
import { signedSender } from '../../src/webhooks/signed-webhook.ts'
import { root } from '../support/cellarbook.ts'
import { reportMissing, toolOf } from './tools.ts'

const python = toolOf('python3')
const secret = secretFrom(Buffer.alloc(32, 7))
const text = 'Gin: rack “<!channel>” is silent, with 12 kegs.'

let ways: Ways
let program: Subprocess<'ignore', 'pipe', 'ignore'> | null

beforeEach(async () => {
  program = null
  ways = await openWays()
})
afterEach(async () => {
  program?.kill()
  await program?.exited
  ways.close()
})

type Ways = {
  readonly environment: Readonly<Record<string, string>>
  /** What arrived, each as a name and a text. */
  readonly arrived: string[]
  slackStatus: number
  /** Slack answers when it has resolved. */
  beforeSlackAnswers: () => Promise<unknown>
  close(): void
}

const openWays = async (): Promise<Ways> => {
  const arrived: string[] = []
  const web = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      arrived.push(`${pathname} ${await request.text()}`)
      if (pathname === '/slack') await ways.beforeSlackAnswers()
      return new Response(null, { status: pathname === '/slack' ? ways.slackStatus : 200 })
    },
  })
  const mail = createServer((socket) => {
    const answers: Readonly<Record<string, string>> = { data: '354 go on', quit: '221 bye' }
    let data: string | null = null
    socket.write('220 mail.example\r\n')
    socket.on('data', (bytes) => {
      const piece = String(bytes)
      const word = piece.slice(0, 4).toLowerCase()
      data = data === null ? (word === 'data' ? '' : null) : data + piece
      if (data !== null && word !== 'data' && !data.endsWith('\r\n.\r\n')) return
      if (data) arrived.push(`/mail ${data}`)
      if (data) data = null
      socket.write(`${answers[word] ?? '250 ok'}\r\n`)
    })
  })
  const port = await new Promise<number>((resolve, reject) => {
    mail.listen(0, '127.0.0.1', () => {
      const address = mail.address()
      if (address === null || typeof address === 'string') reject(new Error('it listens on no port'))
      else resolve(address.port)
    })
  })
  return {
    environment: {
      SLACK_URL: `http://127.0.0.1:${web.port}/slack`,
      NTFY_URL: `http://127.0.0.1:${web.port}/cellar`,
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: `${port}`,
      MAIL_FROM: 'cellarbook@cellar.example',
      MAIL_TO: 'anna@cellar.example',
    },
    arrived,
    slackStatus: 200,
    beforeSlackAnswers: async () => {},
    close: () => {
      web.stop(true)
      mail.close()
    },
  }
}

/** Returns the port. */
const start = async (): Promise<string> => {
  program = Bun.spawn([python ?? '', join(root, 'docs/programs/forward_webhook.py')], {
    env: { PATH: process.env['PATH'] ?? '', WEBHOOK_SECRET: secret, PORT: '0', ...ways.environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = program.stdout.getReader()
  const { value } = await reader.read()
  return /\d+/.exec(new TextDecoder().decode(value))?.[0] ?? ''
}

const send = (port: string, changed: { readonly secret?: string; readonly atMs?: number } = {}): Promise<Sent> =>
  signedSender(
    { privateAddresses: 'refuse' },
    '0.0.0',
  )({
    url: `http://127.0.0.1:${port}/`,
    secret,
    messageId: 'msg_1',
    atMs: Date.now(),
    body: JSON.stringify({ type: 'attention.changed', data: { text } }),
    signal: new AbortController().signal,
    ...changed,
  })

test('Python is there, or its absence is reported', () => {
  expect(
    reportMissing([{ name: 'Python', isInstalledByCi: true, command: python === null ? null : [python] }]),
  ).toEqual([])
})

describe.skipIf(python === null)('docs/programs/forward_webhook.py', () => {
  test('sends a message once by mail, to Slack and to ntfy, however often it comes', async () => {
    const port = await start()
    expect(await send(port)).toMatchObject({ status: 200, answer: 'forwarded' })
    expect((await send(port)).status).toBe(200)
    const [mail = '', slack, ntfy, ...more] = ways.arrived
    expect([slack, ntfy, more]).toEqual([
      `/slack {"text": "Gin: rack \\u201c&lt;!channel&gt;\\u201d is silent, with 12 kegs."}`,
      `/cellar ${text}`,
      [],
    ])
    expect(mail).toContain('To: anna@cellar.example')
    expect(mail).toContain('Subject: Cellarbook: ')
  })

  test.each([
    ['another secret', { secret: secretFrom(Buffer.alloc(32, 8)) }],
    ['an old time', { atMs: Date.now() - 301_000 }],
  ])('refuses a signature with %s', async (_, changed) => {
    const port = await start()
    expect((await send(port, changed)).status).toBe(401)
    expect(ways.arrived).toEqual([])
  })

  test('asks for a message again if one way fails, and repeats only that way', async () => {
    ways.slackStatus = 503
    const port = await start()
    expect(await send(port)).toMatchObject({ status: 502, answer: 'SLACK_URL: HTTPError' })
    ways.slackStatus = 200
    expect((await send(port)).status).toBe(200)
    expect(ways.arrived.map((one) => one.split(' ')[0])).toEqual(['/mail', '/slack', '/cellar', '/slack'])
  })

  test('sends a message once if it comes again before the first time has ended', async () => {
    const [reached, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    ways.beforeSlackAnswers = () => {
      reached.resolve()
      return answer.promise
    }
    const port = await start()
    const first = send(port)
    await reached.promise
    const second = send(port)
    // Answered after the second has come.
    expect((await send(port, { atMs: 0 })).status).toBe(401)
    answer.resolve()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    expect(ways.arrived.map((one) => one.split(' ')[0])).toEqual(['/mail', '/slack', '/cellar'])
  })
})
