import type { Change, DurationField } from '../../src/domain/search/event-changes.ts'
import { lineSentence } from '../attention/attention-sentences.ts'
import { Name } from '../parts/name.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { durationWords, exactText } from '../parts/time-words.ts'
import { refusalWords } from './refusal-words.ts'
import { limitWords, overlapWords, textOf } from './sentence-parts.ts'

/** `from` is `null` if there was no earlier value. The texts can have what people typed. */
export type ChangeRow = { readonly what: string; readonly from: string | null; readonly to: string }

export const ChangeList = (props: { readonly changes: readonly Change[] }): JSX.Element =>
  props.changes.length === 0 ? (
    ''
  ) : (
    <ul class="changes">
      {props.changes.map((change) => (
        <ChangeLine row={changeRow(change)} />
      ))}
    </ul>
  )

const ChangeLine = (props: { readonly row: ChangeRow }): JSX.Element => {
  const { what, from, to } = props.row
  return (
    <li>
      <span class="quiet" safe>
        {what}
      </span>{' '}
      {from === null ? null : (
        <>
          <del>
            <Name text={from} />
          </del>{' '}
          <span aria-hidden="true">→</span>{' '}
        </>
      )}
      <ins>
        <Name text={to} />
      </ins>
    </li>
  )
}

export const changeRow = (change: Change): ChangeRow => {
  switch (change.field) {
    case 'limit':
      return rowOf('Limit', change, (limit) => (limit === null ? 'the cellar’s limit' : limitWords(limit)))
    case 'defaultLimit':
      return rowOf('Default limit per key', change, (limit) =>
        limit === null ? 'the service’s default' : limitWords(limit),
      )
    case 'expiresAt':
      return rowOf('Expires', change, expiryText)
    case 'readingAge':
    case 'readingAhead':
    case 'retention':
      return rowOf(durationNames[change.field], change, (ms) =>
        ms === null ? noDuration[change.field] : durationWords(ms),
      )
    case 'predecessor':
      return row('Rotated from', `clr_${change.keyId}_…`)
    case 'successor':
      return row('Rotated to', `clr_${change.keyId}_…; this key ${overlapWords(change.overlapMs)}`)
    case 'superseded':
      return row('New key', `clr_${change.keyId}_…, first used ${exactText(change.usedAt)}`)
    case 'keyRevision':
      return row('In force up to revision', countText(change.to))
    case 'purged':
      return row('Deleted', purgedText(change))
    case 'purgedRecords':
      return row('Deleted', `${revisionsText(change.revisions)}; from before ${exactText(change.recordedBefore)}`)
    case 'events':
      return row('Events', countText(change.to))
    case 'until':
      return row('Works until', exactText(change.to))
    case 'attention':
      return row('Needs attention', countOf(change.to, 'line', 'lines'))
    case 'began':
    case 'ended':
      return row(change.field === 'began' ? 'Began' : 'Ended', textOf(lineSentence(change.line, noNames)))
    case 'silentAfter':
      return row('Silent after', afterText(change.to))
    case 'refused':
      return row('Refused', `${countText(change.count)}: ${refusalWords(change.code)} (${change.code})`)
    case 'period':
      return row('Between', `${exactText(change.firstAt)} and ${exactText(change.lastAt)}`)
    case 'refusedSignIns':
      return row('Refused', refusedText(change, `as ${change.email}, from ${change.addresses.join(', ')}`))
    case 'otherSignIns':
      return row('Refused', refusedText(change, 'with other e-mails'))
    default:
      return rowOf(textNames.get(change.field) ?? capitalized(change.field), change, (text) => text || '(none)')
  }
}

const durationNames: Readonly<Record<DurationField, string>> = {
  readingAge: 'Maximum age of a reading',
  readingAhead: 'Maximum time in the future',
  retention: 'Readings are kept',
}

const noDuration: Readonly<Record<DurationField, string>> = {
  readingAge: 'no maximum',
  readingAhead: 'no maximum',
  retention: 'for ever',
}

/** Other texts are called as their fields are. */
const textNames: ReadonlyMap<string, string> = new Map([
  ['email', 'E-mail'],
  ['linkMadeBy', 'One-time link from'],
  ['url', 'Address'],
])

const capitalized = (field: string): string => field.replace(/^./, (letter) => letter.toUpperCase())

const row = (what: string, to: string): ChangeRow => ({ what, from: null, to })

const rowOf = <T,>(
  what: string,
  { from, to }: { readonly from?: T; readonly to: T },
  textOf: (value: T) => string,
): ChangeRow => ({ what, from: from === undefined ? null : textOf(from), to: textOf(to) })

type Revisions = { readonly first: number; readonly last: number }

const revisionsText = ({ first, last }: Revisions): string => `revisions ${countText(first)} to ${countText(last)}`

const purgedText = (change: Extract<Change, { readonly field: 'purged' }>): string => {
  const what = `${countOf(change.readings, 'reading', 'readings')}, ${revisionsText(change.revisions)}`
  return `${what}; accepted before ${exactText(change.acceptedBefore)}, the last at ${exactText(change.lastAcceptedAt)}`
}

const noNames = { keyLabel: () => null }

const afterText = (after: number | 'never' | null): string =>
  after === null ? 'the default time' : after === 'never' ? 'never' : durationWords(after)

const expiryText = (at: number | null): string => (at === null ? 'Never' : exactText(at))

const refusedText = (counts: { readonly failed: number; readonly throttled: number }, which: string): string =>
  `${countText(counts.failed)} failed, ${countText(counts.throttled)} blocked, ${which}`
