import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { keyStatuses } from '../../src/domain/key-refusal.ts'
import { readingBodyBytesMax } from '../../src/http/http-bounds.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import { pagesOfLog } from '../../src/log/pages-of-log.ts'
import { paths } from '../../views/paths.ts'
import { type Seen, type Visitor, visitor } from '../http/dashboard/visitor.ts'
import { cellarbook, newFolder, type ServiceProcess, startProcess, textOf } from '../support/cellarbook.ts'
import { isEmbedded, openLogOf } from '../support/logs/engine.ts'
import { leaksIn, type Place, type Secret } from './leaks.ts'

setDefaultTimeout(600_000)

const keysEach = 100
/** The number of commands that run at the same time. */
const lanes = 4
const cellar = 'wine-berlin'
const folder = newFolder()
const environment = { DATA_DIR: folder.path, LOG_LEVEL: 'trace' }

const running: ServiceProcess[] = []
afterAll(async () => {
  for (const service of running) {
    service.signal('SIGKILL')
    await service.exited
  }
  folder.remove()
})

type Key = { readonly id: string; readonly text: string }

const keys: Key[] = []
const passwords: Secret[] = []
/** Secrets of links and sessions. One answer must show each of them, but files and output must not. */
const handedOut: Secret[] = []
/** All answers and output, without the secrets that they must show, such as a new key. */
const heard: Place[] = []

const hear = (where: string, text: string, shown = ''): void => {
  heard.push({ where, text: shown === '' ? text : text.replaceAll(shown, '') })
}

/** Pages may show the id of a key, so only the characters after it are a secret. */
const secretOf = ({ id, text }: Key): Secret => ({ what: `the secret of key ${id}`, text: text.slice(13, 56) })

const keep = (text: string): void => {
  const [id, ...others] = [...text.matchAll(/clr_([0-9A-Za-z]{8})_[0-9A-Za-z]{49}/g)]
  if (id?.[1] === undefined || others.some((other) => other[0] !== id[0])) throw new Error('there is not one key')
  keys.push({ id: id[1], text: id[0] })
}

const newPassword = (what: string): string => {
  const text = crypto.randomUUID().replaceAll('-', '')
  passwords.push({ what, text })
  return text
}

const command = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr, exitCode } = await cellarbook(words, environment)
  expect([words, exitCode]).toEqual([words, 0])
  hear(`cellarbook ${words.join(' ')}`, stdout + stderr)
  return stdout
}

const createByCommand = async (index: number): Promise<void> => {
  const words = ['key', 'create', '--cellar', cellar, ...(index % 2 === 0 ? ['--json'] : [])]
  const { stdout, stderr } = await cellarbook(words, environment)
  keep(stdout)
  hear('cellarbook key create', stdout + stderr, keys.at(-1)?.text)
}

/** Creates some keys before the start, and the others while the service runs. */
const startWithKeys = async (): Promise<ServiceProcess> => {
  await command('cellar', 'create', cellar)
  for (let index = 0; index < lanes; index += 1) await createByCommand(index)
  const service = await startProcess(folder.path, { environment })
  running.push(service)
  const lane = async (first: number): Promise<void> => {
    for (let index = first + lanes; index < keysEach; index += lanes) await createByCommand(index)
  }
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
  return service
}

const answerText = ({ status, headers, body }: Seen): string =>
  [status, ...[...headers].map(([name, value]) => `${name}: ${value}`), body].join('\n')

const look = async (person: Visitor, path: string, where = `GET ${path}`): Promise<Seen> => {
  const seen = await person.get(path)
  hear(where, answerText(seen))
  return seen
}

const enterByLink = async (service: ServiceProcess, url: string, email: string): Promise<Visitor> => {
  const link = url.slice(url.lastIndexOf('/') + 1)
  handedOut.push({ what: `the link for ${email}`, text: link })
  const person = visitor(service.url)
  await look(person, paths.link(link), 'the page of a link')
  const password = newPassword(`the password of ${email}`)
  const entered = await person.post(paths.link(link), { email, password })
  hear('spending a link', answerText(entered))
  expect(entered.status).toBe(303)
  keepSession(person, email)
  await look(person, paths.link(link), 'the page of a spent link')
  await look(person, paths.cellars)
  return person
}

const keepSession = (person: Visitor, email: string): void => {
  const text = person.cookies.get('__Host-cellarbook')
  if (text === undefined) throw new Error('nobody is signed in')
  handedOut.push({ what: `a session of ${email}`, text })
}

const signInAgain = async (service: ServiceProcess, email: string): Promise<Visitor> => {
  const person = visitor(service.url)
  await look(person, paths.signIn)
  const wrong = newPassword('a wrong password')
  hear('a refused sign-in', answerText(await person.post(paths.signIn, { email, password: wrong, next: '' })))
  const password = passwords.find(({ what }) => what === `the password of ${email}`)?.text ?? ''
  const answer = await person.post(paths.signIn, { email, password, next: '' })
  expect(answer.status).toBe(303)
  hear('a sign-in', answerText(answer))
  keepSession(person, email)
  await look(person, paths.cellars)
  return person
}

const createByForm = async (admin: Visitor): Promise<void> => {
  const form = await look(admin, paths.newKey(cellar))
  const _key_id = /name="_key_id" value="([^"]*)"/.exec(form.body)?.[1] ?? ''
  const blank = { label: '', note: '', expires: 'never', expires_on: '', limit_readings: '', limit_seconds: '' }
  const fields = { ...blank, _key_id }
  const created = await admin.post(paths.newKey(cellar), fields)
  expect(created.status).toBe(201)
  keep(created.body)
  hear('the page of a new key', answerText(created), keys.at(-1)?.text)
  // A reload of the page sends the form again, and must not show the key again.
  hear('the form sent again', answerText(await admin.post(paths.newKey(cellar), fields)))
}

const reading = { cellar, rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }

type Sent = { readonly path?: string; readonly method?: string; readonly type?: string; readonly body?: string }

const send = async (service: ServiceProcess, key: string, sent: Sent = {}): Promise<number> => {
  const { path = '/api/v1/ingest', method = 'POST', type = 'application/json', body = JSON.stringify(reading) } = sent
  const headers = { 'X-API-Key': key, 'Content-Type': type }
  const response = await fetch(`${service.url}${path}`, { method, headers, ...(method === 'GET' ? {} : { body }) })
  const { status } = response
  hear(
    `an answer ${status}`,
    answerText({ status, headers: response.headers, body: await response.text(), location: '' }),
  )
  return status
}

/** Sends requests with the key in every wrong place where a device could put it. */
const sendEverythingWrong = async (service: ServiceProcess, { text }: Key): Promise<void> => {
  const wrong: [status: number, sent: Sent][] = [
    [400, { body: text }],
    [400, { body: JSON.stringify([text]) }],
    [400, { body: JSON.stringify({ ...reading, timestamp: text }) }],
    [400, { body: JSON.stringify({ ...reading, value: text }) }],
    [400, { body: JSON.stringify({ ...reading, keg: ` ${text}` }) }],
    [400, { body: JSON.stringify({ [text]: text }) }],
    [403, { body: JSON.stringify({ ...reading, cellar: text }) }],
    [404, { path: `/api/v1/${text}` }],
    [404, { path: `/api/v1/ingest/?key=${text}` }],
    [405, { method: 'GET', path: `/api/v1/ingest?key=${text}` }],
    [413, { body: text.padEnd(readingBodyBytesMax + 1) }],
    [415, { type: `text/${text}` }],
  ]
  for (const [status, sent] of wrong) expect([sent, await send(service, text, sent)]).toEqual([sent, status])
}

/** Reads a live page up to its first push. */
const watch = async (service: ServiceProcess, person: Visitor, path: string): Promise<void> => {
  const abort = new AbortController()
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${service.url}${path}`, { headers: { Cookie: cookie }, signal: abort.signal })
  expect([path, response.status]).toEqual([path, 200])
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (/^data:/m.test(text)) break
  }
  abort.abort()
  hear(`live ${path}`, text)
}

const visitEveryPage = async (service: ServiceProcess, person: Visitor): Promise<void> => {
  const lists = keyStatuses.flatMap((status) => [1, 2, 3].map((page) => paths.keys(cellar, { status, page })))
  const places = ['/', paths.cellars, paths.cellar(cellar), paths.settings(cellar), paths.devicesGuide, ...lists]
  for (const path of places) await look(person, path)
  for (const { id, text } of keys) {
    await look(person, paths.key(id))
    await look(person, `${paths.key(id)}?at=${new Date().toISOString().slice(0, 19)}Z`)
    // The address has the whole key in place of the id.
    await look(person, paths.key(text), 'the page of what is no key')
  }
  const [first] = keys
  if (first === undefined) throw new Error('there are no keys')
  const live = [
    paths.liveCellars(),
    paths.liveReadings(cellar),
    paths.liveKey(first.id),
    paths.liveFirstReading(first.id),
  ]
  const lives = keyStatuses.map((status) => paths.liveKeys(cellar, { status }))
  await Promise.all([...live, ...lives].map((path) => watch(service, person, path)))
}

const visitFormsOf = async (admin: Visitor, { id }: Key): Promise<void> => {
  const forms = [paths.editKey(id), paths.suspendKey(id), paths.resumeKey(id), paths.revokeKey(id)]
  for (const path of [paths.newCellar, paths.operators, paths.newKey(cellar), ...forms]) await look(admin, path)
}

const tellEverything = async (asked: readonly Key[]): Promise<void> => {
  for (const json of [[], ['--json']]) {
    await command('key', 'list', ...json)
    await command('log', 'read', ...json)
    await command('cellar', 'list', ...json)
    for (const { id } of asked) await command('key', 'history', id, ...json)
  }
}

/** Reads every byte of the files, because SQLite keeps deleted content. */
const filesOf = (when: string): readonly Place[] =>
  readdirSync(folder.path)
    .filter((name) => statSync(join(folder.path, name)).isFile())
    .map((name) => ({ where: `${name}, ${when},`, text: readFileSync(join(folder.path, name), 'latin1') }))

/** The events of a log on a separate store. An embedded log is already in the files. */
const logElsewhere = async (): Promise<readonly Place[]> => {
  if (isEmbedded) return []
  const log = await openLogOf(folder.path)
  const pages = await Array.fromAsync(pagesOfLog(log, { after: null, limit: readPageEventsMax }))
  await log.close()
  return [{ where: 'the log', text: JSON.stringify(pages) }]
}

test('secrets are shown once and are in no file, log line or later answer', async () => {
  const service = await startWithKeys()
  const [used, suspended, revoked, refused, byHand] = keys
  if (!used || !suspended || !revoked || !refused || !byHand) throw new Error('too few keys')

  const linkLine = await cellarbook(['operator', 'link', '--json'], environment)
  const admin = await enterByLink(service, textOf(linkLine.lines[0], 'url'), 'ada@example.org')
  for (let index = 0; index < keysEach; index += 1) await createByForm(admin)
  expect(keys).toHaveLength(2 * keysEach)
  await look(admin, paths.operators)
  const invited = await admin.post(paths.operatorLinks, { email: 'otto@example.org', role: 'auditor' })
  const invitation = /http[^"<\s]*\/link\/[0-9A-Za-z]+/.exec(invited.body)?.[0] ?? ''
  hear('an invitation', answerText(invited))
  const auditor = await enterByLink(service, invitation, 'otto@example.org')

  for (const { text } of keys) expect(await send(service, text)).toBe(200)
  await command('key', 'suspend', suspended.id, '--reason', 'cleaning')
  await command('key', 'revoke', revoked.id)
  for (const action of ['suspend', 'resume', 'revoke'] as const) {
    await look(admin, `/keys/${byHand.id}/${action}`)
    hear(action, answerText(await admin.post(`/keys/${byHand.id}/${action}`, { reason: 'a test' })))
  }
  for (const { text } of [suspended, revoked, byHand]) expect(await send(service, text)).toBe(401)
  expect(
    await send(
      service,
      used.text.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ),
  ).toBe(401)
  await sendEverythingWrong(service, refused)
  await look(admin, paths.editKey(refused.id))
  const limit = { label: 'l', note: '', expires: 'keep', expires_on: '', limit_readings: '1', limit_seconds: '3600' }
  expect((await admin.post(paths.editKey(refused.id), limit)).status).toBe(303)
  expect(await send(service, refused.text)).toBe(429)

  const again = await signInAgain(service, 'ada@example.org')
  for (const person of [again, auditor]) await visitEveryPage(service, person)
  for (const key of [used, suspended, revoked]) await visitFormsOf(again, key)
  hear('a sign-out', answerText(await again.post(paths.signOut, {})))
  await tellEverything([used, suspended, revoked])
  const openFiles = filesOf('while the service ran')
  expect(await service.stop()).toBe(0)
  await tellEverything([used, byHand])
  const files = [...openFiles, ...filesOf('closed'), ...(await logElsewhere())]

  // A search of empty texts would find no secret either. So these checks make sure that files, log and answers were really
  // read.
  const wal = openFiles.find(({ where }) => where.startsWith('log.db-wal'))
  if (isEmbedded) expect(wal?.text.length).toBeGreaterThan(100_000)
  const log = files.find(({ where }) => where === 'log.db, closed,' || where === 'the log')
  expect(keys.filter(({ id }) => !log?.text.includes(id))).toEqual([])
  expect(keys.filter(({ id }) => !heard.some(({ text }) => text.includes(id)))).toEqual([])
  const said = [
    { where: 'stdout', text: service.stdout() },
    { where: 'stderr', text: service.stderr() },
  ]
  expect(said[0]?.text).toContain('"msg":"listening"')

  const keySecrets = keys.map(secretOf)
  expect(leaksIn([...files, ...said, ...heard], [...keySecrets, ...passwords])).toEqual([])
  expect(leaksIn([...files, ...said], handedOut)).toEqual([])
})

describe('leaksIn()', () => {
  const secret = { what: 'the secret', text: 'Vq3mB1nZr8Kx0Tt5Lw9Ys2Hd7Gf4Jp6Cc' }

  test('finds a secret whole, cut at either end, and between bytes that are no text', () => {
    for (const text of [secret.text, secret.text.slice(0, 16), secret.text.slice(-16), `\x00${secret.text}\xff`]) {
      expect(leaksIn([{ where: 'a line', text: `{"key":"clr_abcdefgh_${text}"}` }], [secret])).toEqual([
        'a line holds the secret',
      ])
    }
  })

  test('finds nothing in what only resembles one', () => {
    const text = secret.text.slice(0, 15)
    expect(leaksIn([{ where: 'a line', text: `${text} ${secret.text.toLowerCase()}` }], [secret])).toEqual([])
  })
})
