/** The guide for devices must not differ from the programs and from what the service answers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { paths } from '../../views/paths.ts'
import { signedIn, startWithOperators } from '../http/dashboard/visitor.ts'
import { acceptedReadings, answerOf } from '../support/answers.ts'
import { root } from '../support/cellarbook.ts'
import { onlyAnswer, rawConnect, rawExchange } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Service, validReading } from '../support/test-service.ts'
import { type Client, isThere, reportMissing, runIn, toolOf } from './tools.ts'

const guide = readFileSync(join(root, 'docs/devices.md'), 'utf8')
const folder = temporaryFolder()
let service: Service
beforeAll(async () => {
  service = await startWithOperators()
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

test('the raw request of the guide is stored as it stands there', async () => {
  const [, shown = ''] = /^```http\n(.*?)\n```$/ms.exec(guide) ?? []
  const { key } = await service.createKey()
  const sent = shown.replaceAll('\n', '').replaceAll('\\r\\n', '\r\n').replace('clr_…', key)
  const [answer] = await rawExchange(service.url, sent)
  expect([answer?.status, answer?.headers.get('x-receipt')]).toEqual([200, expect.any(String)])
  const last = (await acceptedReadings(service.log)).at(-1)
  expect(last?.data.rack).toBe('Faß 17')
})

test('an answer to one reading is as short as the guide says', async () => {
  const [, kibibytes = ''] = /An answer to one reading is shorter than ([\d.]+) KiB/.exec(guide) ?? []
  // A quote takes four bytes in the answer: it is escaped for the name, and again for the text.
  for (const cellar of ['🍷'.repeat(128), '"'.repeat(128)]) {
    const expiresAt = service.clock.now() + 1_000
    const { key } = await service.createKey({ cellar, expiresAt, limit: { readings: 1_000_000, windowMs: 86_400_000 } })
    const connection = await rawConnect(service.url)
    const body = JSON.stringify(validReading)
    const head = `X-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
    await connection.send(`POST /api/v1/ingest HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${body}`)
    expect((await onlyAnswer(connection)).status).toBe(403)
    expect(Buffer.byteLength(connection.received())).toBeLessThan(Number(kibibytes) * 1024)
    connection.drop()
  }
})

test('the dashboard shows the guide with a link to each section', async () => {
  const admin = await signedIn(service, 'admin')
  const { body } = await admin.get(paths.devicesGuide)
  const linked = [...body.matchAll(/<li><a href="#([^"]+)">/g)].map(([, id]) => id)
  const sections = [...body.matchAll(/<h2 id="([^"]+)">/g)].map(([, id]) => id)
  expect(sections.length).toBe(guide.match(/^## /gm)?.length ?? 0)
  expect(linked).toEqual(sections)
})

describe('the programs of the guide', () => {
  test('are quoted as they are', () => {
    const quotes = [...guide.matchAll(/From \[[^\]]+\]\(([^)]+)\):\n\n```\w+\n(.*?)```/gs)]
    expect(quotes).not.toEqual([])
    for (const [, path = '', quoted = ''] of quotes) {
      expect(readFileSync(join(root, 'docs', path), 'utf8')).toContain(quoted)
    }
  })

  test('are shown by the dashboard under the links of the guide', async () => {
    const admin = await signedIn(service, 'admin')
    const { body } = await admin.get(paths.devicesGuide)
    const links = [...body.matchAll(/href="(programs\/[^"]+)"/g)].map(([, link = '']) => link)
    expect(new Set(links).size).toBe(6)
    for (const link of links) {
      const page = await admin.get(new URL(link, `http://x${paths.devicesGuide}`).pathname)
      expect(page.body).toBe(readFileSync(join(root, 'docs', link), 'utf8'))
      expect(page.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    }
  })
})

/** Runs the line of a row of the guide's table, so that it prints a timestamp. */
const printers: readonly (readonly [language: string, tool: string, print: (line: string) => readonly string[]])[] = [
  ['shell', 'sh', (line) => ['-c', line]],
  ['Python', 'python3', (line) => ['-c', `from datetime import datetime, timezone\nprint(${line})`]],
  ['JavaScript', 'node', (line) => ['-p', line]],
  ['Ruby', 'ruby', (line) => ['-rtime', '-e', `puts ${line}`]],
  ['PHP', 'php', (line) => ['-r', `echo ${line};`]],
  ['Perl', 'perl', (line) => ['-MPOSIX=strftime', '-e', `print ${line}`]],
  ['Lua', 'lua5.4', (line) => ['-e', `print(${line})`]],
  ['MicroPython', 'python3', (line) => ['-c', `import time\nprint(${line})`]],
]

const timeLines: readonly Client[] = printers.map(([language, tool, print]) => {
  const [, line = ''] = new RegExp(`^\\| ${language} +\\| \`([^\`]+)\``, 'm').exec(guide) ?? []
  const isInstalledByCi = true
  return { name: language, isInstalledByCi, command: toolOf(tool) === null ? null : [tool, ...print(line)] }
})

test('every language with a tested time has a tool here, or is named', () => {
  expect(reportMissing(timeLines)).toEqual([])
})

test.each(timeLines.filter(isThere))(
  'the line for $name prints the time in UTC, as it is accepted',
  async ({ command }) => {
    const earliest = Date.now()
    const { stdout, code } = await runIn(folder.path, command)
    expect(code).toBe(0)
    const timestamp = stdout.trim()
    expect(Date.parse(timestamp)).toBeWithin(earliest - 1_000, Date.now() + 1)
    const { key } = await service.createKey()
    service.clock.set(Date.now())
    const answer = await answerOf(await service.post({ ...validReading, timestamp }, key))
    expect(answer.status).toBe(200)
  },
)
