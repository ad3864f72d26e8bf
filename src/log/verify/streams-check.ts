import { categoryOf, purgeableCategories } from '../../domain/stream-names.ts'
import { checkedBytesBesideBody, checkedRowsPerStep } from '../../limits.ts'
import { markChecksum, nameChecksumOf } from '../sqlite/reads/row-checksum.ts'
import { type CheckedFile, namesIndex, type Step } from './checked-file.ts'
import type { Findings } from './damage-kinds.ts'
import type { StreamFacts } from './stream-facts.ts'

type Parts = { readonly file: CheckedFile; readonly findings: Findings }
type StreamParts = Parts & { readonly streams: StreamFacts }

/** Call this before the rows are checked. */
export function* checkStreams({ file, findings, streams }: StreamParts): Generator<Step> {
  const select = file.database.prepare<{ id: number; name: string }, [number, number]>(
    'SELECT id, name FROM streams NOT INDEXED WHERE id > ? ORDER BY id LIMIT ?',
  )
  const entry = file.database.prepare<{ id: number }, [string]>(
    `SELECT id FROM streams INDEXED BY ${namesIndex} WHERE name = ?`,
  )
  yield* pages(file, Number.MIN_SAFE_INTEGER, (after) => {
    const rows = select.all(after, checkedRowsPerStep)
    for (const { id, name } of rows) {
      const isName = typeof name === 'string' && categoryOf(name) !== ''
      if (!isName || !streams.know(id, nameChecksumOf(name))) {
        findings.add('stream', { stream: String(name) }, `no stream can have this name and the id ${id}`)
      } else if (entry.get(name)?.id !== id) {
        findings.add('index', { stream: name }, 'no entry of the index of names leads to this stream')
      }
    }
    return nextOf(rows, after, ({ id }) => id)
  })
}

/** Each entry in the index of names must lead to its stream. */
export function* checkNames({ file, findings }: Parts): Generator<Step> {
  const select = file.database.prepare<{ id: number; name: string }, [string, number]>(
    `SELECT id, name FROM streams INDEXED BY ${namesIndex} WHERE name > ? ORDER BY name LIMIT ?`,
  )
  yield* pages(file, '', (after) => {
    const entries = select.all(after, checkedRowsPerStep)
    for (const { id, name } of entries) {
      if (file.nameOf(id) === name) continue
      findings.add('index', { stream: name }, 'an entry of the index of names leads to no such stream')
    }
    return nextOf(entries, after, ({ name }) => name)
  })
}

/** Call this after the rows are checked: each stream keeps its last event. */
export function* checkEmptyStreams({ file, findings, streams }: StreamParts): Generator<Step> {
  const lastRow = file.database.prepare<{ position: number }, [number]>(
    'SELECT position FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1',
  )
  yield* pages(file, 0, (after) => {
    const before = Math.min(after + checkedRowsPerStep, streams.idMax)
    for (let id = after + 1; id <= before; id += 1) {
      if (streams.nameChecksum(id) === null || streams.rows(id) > 0) continue
      // Since the rows were checked, its old events can have been purged, and new ones appended at its end.
      if (lastRow.get(id) !== null && file.keptFrom(id) > 0) continue
      findings.add('stream', { stream: file.nameOf(id), revision: 0 }, 'all its events are missing')
    }
    return before === after ? null : before
  })
}

type Mark = { readonly stream: number; readonly keptFrom: number; readonly checksum: number }

export function* checkMarks({ file, findings }: Parts): Generator<Step> {
  const select = file.database.prepare<Mark, [number, number]>(
    `SELECT stream, kept_from AS keptFrom, checksum FROM truncations WHERE stream > ? ORDER BY stream LIMIT ?`,
  )
  const end = file.database.prepare<{ end: number }, [number]>(
    'SELECT revision + count AS end FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1',
  )
  yield* pages(file, Number.MIN_SAFE_INTEGER, (after) => {
    const marks = select.all(after, checkedRowsPerStep)
    for (const mark of marks) {
      const stream = file.nameOf(mark.stream)
      const why = faultOf(mark, stream, end.get(mark.stream)?.end ?? 0)
      if (why !== null) findings.add('mark', { stream, revision: mark.keptFrom }, why)
    }
    return nextOf(marks, after, ({ stream }) => stream)
  })
}

const faultOf = (mark: Mark, name: string | null, end: number): string | null => {
  if (name === null) return `the mark of truncated events is of the stream ${mark.stream}, which does not exist`
  if (!purgeableCategories.includes(categoryOf(name))) return 'events of this stream are never truncated'
  if (mark.checksum !== markChecksum(name, mark)) {
    return 'the mark of its truncated events does not match its checksum'
  }
  return mark.keptFrom > 0 && mark.keptFrom < end ? null : 'the mark of its truncated events hides its last event'
}

/** A page returns where the next one begins, or `null`. */
function* pages<At>(file: CheckedFile, first: At, page: (after: At) => At | null): Generator<Step> {
  for (let after: At | null = first; after !== null; ) {
    const from: At = after
    after = file.atOneMoment(() => page(from))
    yield { phase: 'streams', bytes: checkedRowsPerStep * checkedBytesBesideBody, events: 0, share: 0 }
  }
}

/** `null` after the last page, or if a damaged page leads back to an earlier row. */
const nextOf = <Row, At extends number | string>(
  rows: readonly Row[],
  after: At,
  placeOf: (row: Row) => At,
): At | null => {
  const last = rows.at(-1)
  if (last === undefined) return null
  return placeOf(last) > after ? placeOf(last) : null
}
