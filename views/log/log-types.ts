/** Times are ms since 1970. Texts are as they were typed: the views escape them. */

import type { EventKind } from '../../src/domain/events/declare-event.ts'
import type { By, EventType } from '../../src/domain/events.ts'
import type { Change } from '../../src/domain/search/event-changes.ts'
import type { ExportField } from '../types.ts'
import type { Sentence } from './sentence-parts.ts'
import type { StatusThen } from './status-cause.ts'

/** A list of a rack has the events of this number of keys at most, because each has several streams to read. */
export const rackKeysMax = 16

/** Blank if the address has no such part. */
export type LogQuery = {
  readonly kind: EventKind | null
  /** A kind that does not exist. No link keeps it. */
  readonly unknownKind: string
  readonly type: string
  readonly actor: string
  readonly cellar: string
  /** Of the cellar. */
  readonly rack: string
  readonly key: string
  readonly from: string
  readonly to: string
  readonly at: string
  /** A position; newest first. */
  readonly before: number | null
  /** A position: the oldest events after it. */
  readonly after: number | null
  readonly isPaused: boolean
}

export type EventRow = {
  readonly row: 'event'
  readonly position: number
  readonly at: number
  readonly kind: EventKind
  readonly stream: string
  /** `null` if the event is not in the log yet. */
  readonly revision: number | null
  readonly sentence: Sentence
  /** Of what a summary counts. */
  readonly period: { readonly firstAt: number; readonly lastAt: number } | null
  readonly by: ByView
  readonly whyHref: string | null
}

/** `cellar` is `null` if the row counts the readings of all cellars. */
export type MinuteRow = {
  readonly row: 'minute'
  /** The first position of the minute. */
  readonly position: number
  readonly at: number
  readonly cellar: { readonly id: string; readonly title: string } | null
  readonly count: number
  /** `null` if no list can show the single readings. */
  readonly href: string | null
}

/** No event lies between these minutes. */
export type StretchRow = {
  readonly row: 'stretch'
  /** Of the earliest minute. */
  readonly position: number
  /** The first of the latest minute. */
  readonly newestPosition: number
  readonly at: number
  readonly lastMinute: number
  /** `null` if the readings are of several cellars. */
  readonly cellar: MinuteRow['cellar']
  readonly count: number
  readonly href: string
}

/** Between what happened before an instant and after it. */
export type InstantRow = { readonly row: 'instant'; readonly position: number; readonly at: number }

export type LogRow = EventRow | MinuteRow | StretchRow | InstantRow

export type ByView =
  | { readonly kind: 'person'; readonly by: By; readonly href: string }
  | { readonly kind: 'key'; readonly keyId: string; readonly label: string; readonly href: string }
  | { readonly kind: 'other'; readonly by: By; readonly href: string }

/** All events up to `position` were compared; `atMs` is the time of the event there. */
export type SearchEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'page_full' }
  | { readonly kind: 'time_over'; readonly position: number; readonly atMs: number | null }

export type IndexView =
  | { readonly kind: 'current' }
  /** The newest readings may not be counted. */
  | { readonly kind: 'late' }
  | { readonly kind: 'behind'; readonly read: number; readonly of: number }
  | { readonly kind: 'none'; readonly why: string | null }

export type LogListView = {
  readonly query: LogQuery
  readonly faults: Readonly<
    Partial<Record<'kind' | 'type' | 'actor' | 'cellar' | 'rack' | 'key' | 'from' | 'to' | 'at', string>>
  >
  readonly rows: readonly LogRow[]
  readonly end: SearchEnd
  /** `null` on the newest page. */
  readonly newerHref: string | null
  readonly olderHref: string | null
  readonly index: IndexView
  readonly bars: BarsView | null
  readonly about: AboutFilter | null
  /** How many keys the list of a rack includes. `null`: it has only readings. */
  readonly rackKeys: number | null
  /** Suggestions. Empty if there are too many. */
  readonly cellars: readonly { readonly id: string; readonly title: string }[]
  readonly types: readonly EventType[]
  readonly exported: ListExport | null
}

export type ListExport = {
  readonly list: 'events' | 'readings'
  readonly filter: Readonly<Partial<Record<ExportField, string>>>
}

/** Where the thing that the list is filtered by has a page. */
export type AboutFilter = { readonly words: string; readonly name: string; readonly href: string }

export type Bar = {
  readonly at: number
  readonly accepted: number
  readonly refused: number
  readonly href: string
}

export type BarsView = {
  readonly bars: readonly Bar[]
  /** Of each bar, in ms. */
  readonly barMs: number
  readonly isChosen: boolean
}

export type EventLink = { readonly words: Sentence; readonly place: string; readonly href: string }

export type EventPageView = {
  readonly kind: EventKind
  readonly type: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly at: number
  readonly sentence: Sentence
  readonly by: ByView
  /** `from`: where its sign-in came from. */
  readonly session: { readonly id: string; readonly from: SessionFrom | null } | null
  readonly requestId: string
  readonly changes: readonly Change[]
  /** The key or the operator after the event. */
  readonly after:
    | { readonly of: 'key'; readonly state: StatusThen }
    | { readonly of: 'account'; readonly words: string }
    | null
  /** When every node had this change of a key; `null` if no event says so. */
  readonly inForceAt: number | null
  readonly sameRequest: {
    readonly events: readonly EventLink[]
    /** Of the other events, also of those that `events` leaves out. */
    readonly count: number
    /** False if more events of the request can be in the log. */
    readonly isComplete: boolean
    /** A list in the Log. `null`: all are on this page, or near it. */
    readonly listHref: string | null
  }
  readonly inStream: Neighbours
  readonly inLog: Neighbours
  readonly about: AboutFilter | null
  /** Of a reading. */
  readonly keg: { readonly cellar: string; readonly rack: string; readonly keg: string } | null
  /** Of a summary of refusals. */
  readonly samples: readonly SampleView[]
  /** What `cellarbook log read --json` prints, with line breaks. */
  readonly json: string
}

export type SessionFrom = { readonly at: number; readonly address: string; readonly browser: string }

export type Neighbours = { readonly before: string | null; readonly after: string | null }

export type SampleView = {
  readonly at: number
  readonly code: string
  readonly words: string
  readonly rack: string | null
  readonly keg: string | null
  readonly requestId: string
  readonly href: string
}

export type FoundView = {
  readonly typed: string
  readonly choices: readonly { readonly what: string; readonly name: string; readonly href: string }[]
  /** One sentence each. */
  readonly missing: readonly string[]
}

export type ExplainedView =
  | ({ readonly kind: 'sample' } & ExplainedSample)
  | {
      readonly kind: 'summaries'
      readonly requestId: string
      readonly at: number
      readonly summaries: readonly SummaryLink[]
      /** `null` if all summaries of that time were compared. */
      readonly goOnHref: string | null
    }
  | { readonly kind: 'not_an_id'; readonly requestId: string }

export type SummaryLink = {
  readonly key: { readonly id: string; readonly label: string } | null
  readonly from: number
  readonly to: number
  readonly refusals: Sentence
  /** `null` if the summary is not in the log yet. */
  readonly href: string | null
}

export type ExplainedSample = {
  readonly requestId: string
  readonly at: number
  readonly status: number | null
  readonly code: string
  readonly sentence: Sentence
  /** `null` if the code says all. */
  readonly rule: string | null
  readonly key: { readonly id: string; readonly label: string; readonly cellar: string } | null
  readonly rack: string | null
  readonly keg: string | null
  readonly keyThen: StatusThen | null
  readonly limitThen: { readonly words: string; readonly used: number | null } | null
  /** Before the refusal, newest first. */
  readonly changed: readonly {
    readonly at: number
    readonly words: Sentence
    readonly by: ByView
    readonly href: string
  }[]
  readonly around: Omit<SummaryLink, 'key'>
  readonly remedy: { readonly words: string; readonly link: { readonly words: string; readonly href: string } | null }
}

export type RefusalCount = {
  readonly keyId: string
  readonly label: string
  readonly code: string
  readonly words: string
  readonly count: number
  readonly href: string
}

/** `isLate`: further refusals may not be counted yet. */
export type RefusalsToday = { readonly counts: readonly RefusalCount[]; readonly isLate: boolean }
