import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openExportFile } from '../../src/cli/commands/export-file.ts'
import { encodeFrame } from '../../src/cli/control/control-protocol.ts'
import type { ExportOperation } from '../../src/cli/control/export-operation.ts'
import { perform } from '../../src/cli/control/operations.ts'
import { wholeLog } from '../../src/domain/search/event-filter.ts'
import { exportsStream } from '../../src/domain/stream-names.ts'
import { cutOffWords } from '../../src/export/running-export.ts'
import { Outage } from '../../src/log/event-log.ts'
import { cellarbook, newFolder } from '../support/cellarbook.ts'
import { keySuspensions } from '../support/logs/sample-events.ts'
import { type Service, startService } from '../support/test-service.ts'
import { until } from '../support/time/until.ts'

setDefaultTimeout(600_000)

describe('log export', () => {
  const folder = newFolder()
  afterAll(() => folder.remove())
  const dataDir = join(folder.path, 'data')
  const run = (...words: string[]) => cellarbook(words, { DATA_DIR: dataDir })
  const at = (name: string): string => join(folder.path, name)
  /** The position of the sixth event. Each export adds events behind it. */
  let last = ''
  const exported = (name: string, ...words: string[]) => run('log', 'export', '--out', at(name), '--to', last, ...words)

  beforeAll(async () => {
    await run('cellar', 'create', 'wine')
    for (const label of ['=1', '"a", b', 'c', '\u202edesrever'])
      await run('key', 'create', '--cellar', 'wine', '--label', label)
    const events = (await run('log', 'read', '--json')).stdout.trimEnd().split('\n')
    last = String(Object(JSON.parse(events.at(-1) ?? '')).position)
  })

  test('writes the same lines as log read, to a file of its own', async () => {
    const ran = await exported('all.ndjson', '--format', 'ndjson')
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, '', '6 rows exported\n'])
    expect(readFileSync(at('all.ndjson'), 'utf8')).toBe((await run('log', 'read', '--json', '--to', last)).stdout)
    expect(statSync(at('all.ndjson')).mode & 0o777).toBe(0o600)
    const again = await exported('all.ndjson', '--format', 'ndjson')
    expect(again.exitCode).toBe(1)
    expect(again.stderr).toContain('it exists already. Choose another name, or add --resume to go on')
  })

  test.each(['ndjson', 'csv'] as const)('resumes %s after the last complete line, at any byte', async (format) => {
    await exported(`whole.${format}`, '--format', format)
    const whole = readFileSync(at(`whole.${format}`))
    const ends = [...whole.keys()].filter((index) => whole[index] === 0x0a).map((index) => index + 1)
    for (const bytes of [0, 5, ends[0] ?? 0, (ends[1] ?? 0) + 30, ends[3] ?? 0, (ends[4] ?? 0) - 1, whole.length]) {
      writeFileSync(at('part'), whole)
      truncateSync(at('part'), bytes)
      const ran = await exported('part', '--format', format, '--resume')
      expect([bytes, ran.exitCode]).toEqual([bytes, 0])
      expect(readFileSync(at('part')).equals(whole)).toBe(true)
    }
  })

  test('resumes no file of another log, and no other file', async () => {
    await exported('other.ndjson', '--format', 'ndjson')
    const text = readFileSync(at('other.ndjson'), 'utf8')
    const strange = text.trimEnd().replace(/"id":"[^"]*"(?!.*\n)/, `"id":"${crypto.randomUUID()}"`)
    writeFileSync(at('other.ndjson'), `${strange}\n`)
    const other = await exported('other.ndjson', '--format', 'ndjson', '--resume')
    expect([other.exitCode, other.stderr.includes('is not in this log')]).toEqual([1, true])
    expect(readFileSync(at('other.ndjson'), 'utf8')).toBe(`${strange}\n`)
    writeFileSync(at('notes.txt'), 'my notes\n')
    for (const format of ['ndjson', 'csv']) {
      const notes = await exported('notes.txt', '--format', format, '--resume')
      expect([notes.exitCode, notes.stderr.includes('is no event of an export')]).toEqual([1, true])
    }
    expect(readFileSync(at('notes.txt'), 'utf8')).toBe('my notes\n')
  })

  test('resumes no CSV file with other columns', async () => {
    await exported('columns.csv', '--format', 'csv')
    const earlier = readFileSync(at('columns.csv'), 'utf8').replace(',requestId,', ',')
    writeFileSync(at('columns.csv'), earlier)
    const ran = await exported('columns.csv', '--format', 'csv', '--resume')
    expect([ran.exitCode, ran.stderr.includes('its first line names other columns')]).toEqual([1, true])
    expect(readFileSync(at('columns.csv'), 'utf8')).toBe(earlier)
  })

  test('refuses options that do not fit together', async () => {
    expect((await run('log', 'export')).exitCode).toBe(64)
    expect((await run('log', 'export', '--format', 'csv', '--resume')).exitCode).toBe(64)
    expect((await run('log', 'export', '--format', 'csv', '--rack', 'a')).exitCode).toBe(64)
    expect(
      (await run('log', 'export', '--format', 'csv', '--list', 'keys', '--out', at('k'), '--resume')).exitCode,
    ).toBe(64)
    expect((await run('log', 'export', '--format', 'csv', '--cellar', 'nowhere')).exitCode).toBe(1)
  })

  test('prints keys, and records who exported what', async () => {
    const { stdout } = await run('log', 'export', '--format', 'csv', '--list', 'keys', '--cellar', 'wine')
    expect(stdout).toContain(",wine,'=1,,active,6000,60,,")
    const { lines } = await run('log', 'read', '--type', 'LogExported', '--json')
    const told = { list: 'keys', format: 'csv', filter: { cellar: 'wine' }, address: null, why: null }
    expect(lines.at(-2)).toMatchObject({
      data: { ...told, phase: 'begun', rows: 0 },
      metadata: { by: { kind: 'cli' } },
    })
    expect(lines.at(-1)).toMatchObject({ data: { ...told, phase: 'complete', rows: 4 } })
  })
})

describe('log export says how to go on', () => {
  const folder = newFolder()
  afterAll(() => folder.remove())

  test('if the service is killed', async () => {
    const DATA_DIR = join(folder.path, 'data')
    mkdirSync(DATA_DIR, { mode: 0o700 })
    const maskBefore = process.umask(0o177)
    const frame = encodeFrame({ line: { kind: 'exported', value: { text: 'a row\n', rows: 1, share: 0.5 } } })
    const server = Bun.serve({ unix: join(DATA_DIR, 'control.sock'), fetch: () => new Response(frame) })
    process.umask(maskBefore)
    const words = ['log', 'export', '--format', 'ndjson', '--out', join(folder.path, 'out')]
    const ran = await cellarbook(words, { DATA_DIR, EVENTSTORE_URL: '' })
    await server.stop(true)
    const told = 'cut off after 1 rows: the service ended. To go on, repeat the command with --resume\n'
    expect([ran.exitCode, ran.stderr]).toEqual([69, `1 row exported\ncellarbook: The export was ${told}`])
    expect(readFileSync(join(folder.path, 'out'), 'utf8')).toBe('a row\n')
  })

  test('if the disk of its file is full', async () => {
    const path = join(folder.path, 'full')
    const file = await openExportFile(path, { resume: false, list: 'events', format: 'ndjson' })
    await file.close()
    const told = /^Cannot write to ".*full": .*\. To go on later, repeat the command with --resume$/
    const failure = await file.append('a row\n').catch((error: unknown) => error)
    expect(failure).toMatchObject({ exitCode: 1, message: expect.stringMatching(told) })
  })
})

describe('log export of a running service', () => {
  let service: Service
  afterEach(() => service.stop())

  const operation: ExportOperation = {
    op: 'export_log',
    list: 'events',
    format: 'ndjson',
    filter: wholeLog,
    rack: null,
    keg: null,
    after: null,
  }

  const begin = async () => {
    service = await startService()
    for (const expected of ['none', 1_999] as const)
      await service.log.append('refusals-many', expected, keySuspensions(2_000))
    const { core } = service
    const leaving = new AbortController()
    const context = { questions: core.questions, core: async () => core, linkUrl: () => '' }
    const lines = perform(operation, context, leaving.signal)
    const first = await lines.next()
    const rows = first.done !== true && first.value.kind === 'exported' ? first.value.value.rows : 0
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(4_000)
    return { lines, leaving, rows }
  }

  const lastRecord = async () => {
    const [last] = await service.log.read(exportsStream, { direction: 'backwards', limit: 1 })
    return last?.data
  }

  test('ends with 69 when the service stops', async () => {
    const { lines, leaving, rows } = await begin()
    leaving.abort(cutOffWords.serviceStopped)
    const end = await lines.next()
    expect(end).toMatchObject({ done: true, value: { exitCode: 69 } })
    expect(await lastRecord()).toMatchObject({ phase: 'cut_off', why: 'the service stopped', rows })
  })

  test('says where it was cut off if the log cannot be read', async () => {
    const { lines, rows } = await begin()
    const closed = new Outage('Cannot read the log: it is closed', 'not_written', 'closed')
    using _readAll = spyOn(service.log, 'readAll').mockRejectedValue(closed)
    const message = `The export was cut off after ${rows.toLocaleString('en')} rows: ${closed.message}. To go on, repeat the command with --resume`
    expect(await lines.next()).toEqual({ done: true, value: { exitCode: 69, message } })
    expect(await lastRecord()).toMatchObject({ phase: 'cut_off', why: closed.message, rows })
  })

  test('is recorded as cut off when nobody asks for the next line', async () => {
    const { leaving } = await begin()
    leaving.abort(cutOffWords.clientLeft)
    let revision = 0
    await until(() => {
      void service.log.read(exportsStream, { direction: 'backwards', limit: 1 }).then((events) => {
        revision = events[0]?.revision ?? 0
      })
      return revision === 1
    })
    expect(await lastRecord()).toMatchObject({ phase: 'cut_off', why: 'the client left', begunRevision: 0 })
  })
})
