import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type ListWanted, listHere } from '../../src/actors/search/list-events.ts'
import { questionKinds } from '../../src/asked/question-kinds.ts'
import { questionsOnThread } from '../../src/derived/questions/asked-questions.ts'
import type { Questions } from '../../src/derived/questions/question.ts'
import { anyEvent, type LogPart, wholeLog } from '../../src/domain/search/event-filter.ts'
import { type ExportedRows, exportRows, type RowsWanted } from '../../src/export/export-page.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { readsOf } from '../support/ask/reads-of.ts'
import { isEmbedded, openLogOf, sourceConfigOf } from '../support/logs/engine.ts'
import { freshKeyStream, freshReadingsStream, keySuspensions, reading } from '../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
let log: EventLog
let questions: Questions<typeof questionKinds>

/** Without files of models, so searches read the log alone. */
const noModels = {
  upTo: async () => true,
  progress: () => ({ position: null, isBehind: true, trouble: null }),
  opening: () => null,
  rebuild: () => {},
}

beforeEach(async () => {
  folder = temporaryFolder()
  log = await openLogOf(folder.path)
  questions = questionsOnThread(
    {
      kinds: questionKinds,
      source: { ...sourceConfigOf(folder.path), logId: 'log-1' },
      store: noModels,
      reached: () => log.reached?.() ?? null,
      passedMs: () => 0,
      onFault: (why) => expect(why).toBe(''),
    },
    new URL('../../src/asked/question-thread.ts', import.meta.url),
  )
})

afterEach(async () => {
  await questions.close()
  await log.close()
  folder.remove()
})

const passedMs = (): number => 0

const listed = async (wanted: ListWanted) => {
  const answered = await questions.ask('findEvents', wanted, { owner: 'cli' })
  return answered.kind === 'answered' ? answered.answer.events : answered
}

const exported = async (list: RowsWanted['list'], page: (wanted: RowsWanted) => Promise<ExportedRows>) => {
  const pages: ExportedRows[] = []
  for (let rest = list; ; ) {
    const rows = await page({ list: rest, format: 'ndjson', also: [], units: '[]' })
    pages.push(rows)
    if (rows.reached === null) return pages
    rest = { list: 'events', filter: { ...list.filter, from: rows.reached, to: rows.to } }
  }
}

const onThread = async (wanted: RowsWanted): Promise<ExportedRows> => {
  const answered = await questions.ask('exportPage', wanted, { owner: 'cli' })
  if (answered.kind !== 'answered') throw new Error(`Cannot export: ${answered.kind}`)
  return answered.answer
}

test('a list on the thread has what a list here has, also new events', async () => {
  const [stream, other] = [freshKeyStream(), freshKeyStream()]
  await log.append(other, 'none', keySuspensions(5))
  const wanted: ListWanted = {
    filter: { ...anyEvent, stream },
    page: { direction: 'backwards', from: null, limit: 20 },
  }
  for (let count = 0; count < 30; count += 10) {
    await log.append(stream, count === 0 ? 'none' : count - 1, keySuspensions(10))
    const { events } = await listHere(readsOf({ log, ask: null, passedMs }), wanted)
    expect(await listed(wanted)).toEqual(events)
    expect(events.length).toBe(Math.min(20, count + 10))
  }
})

test('an export on the thread has the rows of an export here, in several pages', async () => {
  for (let batch = 0; batch < 3; batch += 1) {
    const stream = freshReadingsStream()
    await log.append(
      stream,
      'none',
      Array.from({ length: 1_000 }, () => reading(stream)),
    )
  }
  const list = { list: 'events', filter: wholeLog } as const
  const [here, there] = [
    await exported(list, (wanted) => exportRows(readsOf({ log, ask: null, passedMs }), wanted)),
    await exported(list, onThread),
  ]
  const [textHere, textThere] = [here, there].map((pages) => pages.map(({ text }) => text).join(''))
  expect(textThere).toBe(textHere ?? '')
  expect(textThere?.split('\n').length).toBe(3_001)
  expect(there.length).toBeGreaterThan(1)
})

test('a purge hides its events from a thread that has read them', async () => {
  const stream = freshReadingsStream()
  await log.append(
    stream,
    'none',
    Array.from({ length: 10 }, () => reading(stream)),
  )
  const rowsOf = async (filter: LogPart): Promise<number> =>
    (await onThread({ list: { list: 'events', filter }, format: 'ndjson', also: [], units: '[]' })).rows
  for (const filter of [wholeLog, { ...wholeLog, stream }]) expect(await rowsOf(filter)).toBe(10)
  await log.truncate(stream, 7)
  expect(await rowsOf({ ...wholeLog, stream })).toBe(3)
  if (isEmbedded) expect(await rowsOf(wholeLog)).toBe(3)
  // The thread's client of EventStoreDB asks for truncations again after a while.
  while ((await rowsOf(wholeLog)) !== 3);
})
