import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  javascriptCheck,
  jsonString,
  pythonCheck,
  shellCheck,
  shellKey,
  shellReading,
  shellWord,
} from '../../views/cellars/snippets.ts'
import { sampleKey } from './every-page.ts'

/** Most of these names change the command if they are quoted wrongly. */
const hostileCellars = [
  'wine-berlin',
  "'; touch owned #",
  '"; touch owned; "',
  '$(touch owned)',
  '`touch owned`',
  '$HOME',
  '!!',
  "it's",
  "'",
  "''\\''",
  '\\',
  'a\\"b',
  '\\u0041\\n',
  '%s %d %%',
  '@owned',
  '-d x',
  '*',
  '~',
  '</script><img src=x onerror=alert(1)>',
  'Weinkeller Köln – 東京 🍷',
  'abc\u202Edef\u2066',
  '\u{E0041}tag',
  'line\u2028separator',
  'a\u3164b\u034f\u2800',
  '#{owned} {owned} f"{owned}" \\N{BULLET}',
]

type Sent = { readonly path: string; readonly key: string | null; readonly type: string | null; readonly body: unknown }

let sent: Sent[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.url.includes('/moved/')) return Response.redirect('/api/v1/ingest', 308)
    sent.push({
      path: new URL(request.url).pathname,
      key: request.headers.get('X-API-Key'),
      type: request.headers.get('Content-Type'),
      body: await request.json(),
    })
    return Response.json({ status: 'success' })
  },
})
const baseUrl = `http://127.0.0.1:${server.port}`

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cellarbook-snippets-'))
})
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

/** Returns what the server received. A name that breaks out of its quotes would create a file in the empty folder. */
const run = async (command: readonly string[], environment: Record<string, string> = {}): Promise<readonly Sent[]> => {
  sent = []
  const work = mkdtempSync(join(folder, 'run-'))
  const child = Bun.spawn([...command], {
    cwd: work,
    env: { PATH: process.env['PATH'] ?? '', HOME: work, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const complaint = await new Response(child.stderr).text()
  expect({ code: await child.exited, complaint }).toEqual({ code: 0, complaint: '' })
  expect(readdirSync(work)).toEqual([])
  return sent
}

const storing = '/api/v1/ingest'
const checking = '/api/v1/ingest/check'

const aReading = (cellar: string, path: string): readonly Sent[] => [
  {
    path,
    key: sampleKey,
    type: 'application/json',
    body: {
      cellar,
      rack: 'rack-1',
      keg: 'temperature',
      value: 21.5,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/),
    },
  },
]

/** Does what the comment in the program says. */
const asStoring = (lines: string): string => lines.replace('/ingest/check', '/ingest')

describe('the shell lines', () => {
  const shells = ['sh', 'dash', 'bash'].filter((shell) => Bun.which(shell) !== null)

  test.skipIf(Bun.which('curl') === null).each(hostileCellars)(
    'send exactly the cellar %j, from any shell',
    async (cellar) => {
      const [key, snippet] = [shellKey(sampleKey), { baseUrl, cellar }]
      for (const shell of shells) {
        expect(await run([shell, '-c', `${key}\n${shellCheck(snippet)}`])).toEqual(aReading(cellar, checking))
        expect(await run([shell, '-c', `${key}\n${shellReading(snippet)}`])).toEqual(aReading(cellar, storing))
      }
    },
  )

  test('have the key in the first line only, and start curl with the shown words', async () => {
    const curl = join(folder, 'curl')
    writeFileSync(curl, `#!/bin/sh\nfor word; do printf '%s\\0' "$word"; done\n`)
    chmodSync(curl, 0o755)
    for (const cellar of hostileCellars) {
      const reading = shellReading({ baseUrl: "https://x.example/it's", cellar })
      expect(reading).not.toContain(sampleKey)
      const child = Bun.spawn(['sh', '-c', `${shellKey(sampleKey)}\n${reading}`], {
        env: { PATH: `${folder}:${process.env['PATH'] ?? ''}` },
        stdout: 'pipe',
      })
      const words = (await new Response(child.stdout).text()).split('\0')
      expect(words.slice(0, 7)).toEqual([
        '-sS',
        "https://x.example/it's/api/v1/ingest",
        '-H',
        `X-API-Key: ${sampleKey}`,
        '-H',
        'Content-Type: application/json',
        '-d',
      ])
      expect(words.slice(8)).toEqual([''])
      expect(JSON.parse(words[7] ?? '')).toMatchObject({ cellar })
    }
  })

  test('shellWord() makes one word of any text', async () => {
    for (const text of [...hostileCellars, '', ' ', '\n', 'a\nb']) {
      const child = Bun.spawn(['sh', '-c', `printf '%s' ${shellWord(text)}`], { stdout: 'pipe' })
      expect(await new Response(child.stdout).text()).toBe(text)
    }
  })
})

test.skipIf(Bun.which('python3') === null).each(hostileCellars)(
  'the Python lines send exactly the cellar %j',
  async (cellar) => {
    const lines = pythonCheck({ baseUrl, cellar })
    const environment = { CELLARBOOK_KEY: sampleKey }
    expect(await run(['python3', '-c', lines], environment)).toEqual(aReading(cellar, checking))
    expect(await run(['python3', '-c', asStoring(lines)], environment)).toEqual(aReading(cellar, storing))
  },
)

describe('the JavaScript lines', () => {
  const node = Bun.which('node')
  const runtimes = node === null ? [process.execPath] : [process.execPath, node]

  test.each(hostileCellars)('send exactly the cellar %j with Bun and Node', async (cellar) => {
    const lines = javascriptCheck({ baseUrl, cellar })
    const environment = { CELLARBOOK_KEY: sampleKey }
    for (const runtime of runtimes) {
      expect(await run([runtime, '-e', lines], environment)).toEqual(aReading(cellar, checking))
      expect(await run([runtime, '-e', asStoring(lines)], environment)).toEqual(aReading(cellar, storing))
    }
  })

  test('follow no redirect, because they would send the key there', async () => {
    const lines = javascriptCheck({ baseUrl: `${baseUrl}/moved`, cellar: 'wine-berlin' })
    for (const runtime of runtimes) expect(await run([runtime, '-e', lines], { CELLARBOOK_KEY: sampleKey })).toEqual([])
  })
})

test('jsonString() escapes invisible characters and characters that reverse text', () => {
  for (const cellar of hostileCellars) {
    const text = jsonString(cellar)
    expect(JSON.parse(text)).toBe(cellar)
    expect(text).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800']/u)
  }
})
