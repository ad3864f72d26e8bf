import { type AuditEvent, historyOf, stateAt } from '../../../../projections/audit-trail.ts'
import type { HistoryView, StateAt } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core.ts'
import { readKeyEvents } from '../../../actors/key/key-events.ts'
import { parseTimestamp } from '../../../domain/reading/timestamp.ts'
import { done } from '../../../domain/refusal.ts'
import { invalidField, type Typed } from '../../../domain/text.ts'
import { historyRowsPerPageMax } from '../../../limits.ts'
import { pageOf } from './paging.ts'

/** Returns one page of a key's history, newest event first. */
export const historyPage = (events: readonly AuditEvent[], pageNumber: number): HistoryView => {
  const { shown, page, pages } = pageOf(historyOf(events).toReversed(), pageNumber, historyRowsPerPageMax)
  return { rows: shown, page, pages }
}

/**
 * Returns a function that loads the history for a live page. New readings cause a rendering of the page up to twice a second.
 * So the function reads the log only if the history has changed.
 */
export const watchedHistory = (core: Core, keyId: string, pageNumber: number): (() => Promise<HistoryView>) => {
  let last: { readonly revisions: string; readonly history: HistoryView } | null = null
  return async () => {
    const revisions = historyRevisions(core, keyId)
    if (last?.revisions === revisions) return last.history
    const history = historyPage(await readKeyEvents(core, keyId), pageNumber)
    last = { revisions, history }
    return history
  }
}

/** Returns a text that changes with every event that the key's history shows (`readKeyEvents`). */
const historyRevisions = ({ projections: { keys, readings } }: Core, keyId: string): string =>
  [keys.get(keyId)?.revision, readings.barriers(keyId).at(-1)?.revision, readings.purged(keyId)?.keptFrom].join(' ')

export const stateAtTyped = (events: readonly AuditEvent[], typed: string, nowMs: number): StateAt => {
  const instant = typedInstant(typed)
  if (!instant.ok) return { typed, answer: { kind: 'refused', rule: instant.refusal.rule } }
  const state = stateAt(events, instant.value, nowMs)
  if (!state.ok) return { typed, answer: { kind: 'refused', rule: state.refusal.rule } }
  return { typed, answer: { kind: 'known', at: instant.value, ...state.value } }
}

/** Accepts texts like `2026-03-01 10:14:07.042 UTC`. Only the date is required. */
const typedInstant = (text: string): Typed<number> => {
  const [, date, time = '00:00', seconds = ':00', fraction = ''] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?)?(?: ?(?:UTC|Z))?$/i.exec(text.trim()) ?? []
  const parsed = parseTimestamp(`${date}T${time}${seconds}${fraction}Z`)
  if (typeof parsed === 'number') return done(parsed)
  return invalidField('at', 'Enter a valid date and time in UTC, like 2026-03-01 10:14:07.')
}
