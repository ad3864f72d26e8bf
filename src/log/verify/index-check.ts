/**
 * `RowsCheck` has found the entry of each row, so an equal number of entries proves the index of revisions. Comparing them
 * takes much longer, and is done for streams whose numbers differ. Texts are few, and all compared.
 */
import { checkedBytesBesideBody } from '../../limits.ts'
import { type CheckedFile, revisionsIndex, type Step } from './checked-file.ts'
import type { Findings } from './damage-kinds.ts'
import type { StreamFacts } from './stream-facts.ts'

const checkedIndexEntriesPerStep = 512

export type IndexCheckParts = {
  readonly file: CheckedFile
  readonly findings: Findings
  readonly streams: StreamFacts
  /** Rows at later positions were not counted. */
  readonly checkedTo: number
  readonly events: number
}

type Entry = { readonly stream: number; readonly revision: number; readonly position: number }
type Place = Pick<Entry, 'stream' | 'revision'>
type TextEntry = Pick<Entry, 'stream' | 'position'>

const noSuchRow = 'an entry of the index leads to no such row'

export function* checkIndex(parts: IndexCheckParts): Generator<Step> {
  const { file, findings, streams, checkedTo } = parts
  const statements = prepare(file)
  let after: Place = { stream: Number.MIN_SAFE_INTEGER, revision: 0 }
  let entries = 0
  while (true) {
    const page = file.atOneMoment(() => {
      const page = statements.entries.all(after.stream, after.revision, checkedIndexEntriesPerStep)
      // Of new rows, or rows lost at the end of the log.
      for (const entry of page) if (entry.position > checkedTo) compare(parts, statements, entry)
      return page
    })
    for (const entry of page) {
      if (!isAfter(entry, after)) {
        // A damaged page can lead back to an earlier entry: an endless loop.
        findings.add('index', {}, 'the pages of the index are in a wrong order')
        return
      }
      if (entry.stream !== after.stream) {
        if (entries !== streams.rows(after.stream)) yield* compareAll(parts, statements, after.stream)
        entries = 0
      }
      if (entry.position <= checkedTo) entries += 1
      after = entry
    }
    yield stepOf(parts, page.length, after)
    if (page.length < checkedIndexEntriesPerStep) break
  }
  if (entries !== streams.rows(after.stream)) yield* compareAll(parts, statements, after.stream)
  if (file.hasTexts) yield* checkTexts(parts)
}

function* checkTexts({ file, findings, events }: IndexCheckParts): Generator<Step> {
  const entries = file.database.prepare<TextEntry, [number, number]>(
    "SELECT position, stream FROM events INDEXED BY texts WHERE typeof(body) = 'text' AND position > ? ORDER BY position LIMIT ?",
  )
  const text = file.database.prepare<{ stream: number }, [number]>(
    "SELECT stream FROM events NOT INDEXED WHERE position = ? AND typeof(body) = 'text'",
  )
  for (let [after, last] = [-1, 0]; last > after; ) {
    after = last
    const page = file.atOneMoment(() => {
      const page = entries.all(last, checkedIndexEntriesPerStep)
      for (const { position, stream } of page) {
        const isRight = position > last && text.get(position)?.stream === stream
        if (!isRight) findings.add('index', { stream: file.nameOf(stream), position }, noSuchRow)
        last = position
      }
      return page
    })
    yield { phase: 'index', bytes: page.length * checkedBytesBesideBody, events, share: 1 }
  }
}

function* compareAll(parts: IndexCheckParts, statements: Statements, stream: number): Generator<Step> {
  for (let after: Place | null = { stream, revision: Number.MIN_SAFE_INTEGER }; after !== null; ) {
    const from: Place = after
    const page = parts.file.atOneMoment(() => {
      const page = statements.entries.all(stream, from.revision, checkedIndexEntriesPerStep)
      const ofStream = page.filter((entry) => entry.stream === stream)
      for (const entry of ofStream) if (entry.position <= parts.checkedTo) compare(parts, statements, entry)
      return ofStream
    })
    yield stepOf(parts, page.length, from)
    after = page.length < checkedIndexEntriesPerStep ? null : (page.at(-1) ?? null)
  }
}

const compare = ({ file, findings }: IndexCheckParts, { row }: Statements, entry: Entry): void => {
  const { stream, revision, position } = entry
  const found = row.get(position)
  if (found?.stream === stream && found.revision === revision) return
  const place = { stream: file.nameOf(stream), revision, position }
  findings.add('index', place, noSuchRow)
}

const isAfter = (entry: Place, before: Place): boolean =>
  entry.stream > before.stream || (entry.stream === before.stream && entry.revision > before.revision)

const stepOf = ({ streams, events }: IndexCheckParts, entries: number, { stream }: Place): Step => ({
  phase: 'index',
  bytes: entries * checkedBytesBesideBody,
  events,
  share: Math.min(1, Math.max(0, stream / Math.max(1, streams.known))),
})

type Statements = ReturnType<typeof prepare>

const prepare = ({ database }: CheckedFile) => ({
  entries: database.prepare<Entry, [number, number, number]>(
    `SELECT stream, revision, position FROM events INDEXED BY ${revisionsIndex}
      WHERE (stream, revision) > (?, ?) ORDER BY stream, revision LIMIT ?`,
  ),
  row: database.prepare<Place, [number]>('SELECT stream, revision FROM events NOT INDEXED WHERE position = ?'),
})
