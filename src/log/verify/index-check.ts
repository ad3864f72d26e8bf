/**
 * Checks the index of revisions against the table. `RowsCheck` has found the entry of each row. So if the index has as
 * many entries of a stream as the stream has rows, it has no other entries. Only if the numbers differ, each entry is
 * compared with its row, because that takes much longer.
 */
import { checkedBytesBesideBody, checkedIndexEntriesPerStep } from '../../limits.ts'
import { type CheckedFile, revisionsIndex, type Step } from './checked-file.ts'
import type { Findings } from './damage.ts'
import type { StreamFacts } from './stream-facts.ts'

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

export function* checkIndex(parts: IndexCheckParts): Generator<Step> {
  const { file, findings, streams, checkedTo } = parts
  const statements = prepare(file)
  let after: Place = { stream: Number.MIN_SAFE_INTEGER, revision: 0 }
  let entries = 0
  while (true) {
    const page = file.atOneMoment(() => {
      const page = statements.entries.all(after.stream, after.revision, checkedIndexEntriesPerStep)
      // Rows of these entries are new, or lost at the end of the log.
      for (const entry of page) if (entry.position > checkedTo) compare(parts, statements, entry)
      return page
    })
    for (const entry of page) {
      if (!isAfter(entry, after)) {
        // A damaged page can lead back to an earlier entry. Without this check, the loop would never end.
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
}

/** Compares each entry of the stream with its row. */
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
  findings.add('index', place, 'an entry of the index leads to no such row')
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
