import type { HistoryRow } from '../../../projections/audit-trail.ts'
import { answerOf } from '../../actors/ask/answer-of.ts'
import { knownOfHistory } from '../../actors/ask/known-of-history.ts'
import type { Core } from '../../actors/core-interface.ts'
import { overlapTyped } from '../../domain/amounts.ts'
import type { Limit } from '../../domain/events.ts'
import type { KeyChange } from '../../domain/search/event-changes.ts'
import { readPageEventsMax } from '../../limits.ts'
import { type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { isoOf } from '../show/lines.ts'

/** `askedMs`: `null` means now. Refuses an instant in the future. */
export async function* keyHistory(core: Core, keyId: string, askedMs: number | null): AsyncGenerator<Line, End> {
  const nowMs = core.clock.now()
  const atMs = askedMs ?? nowMs
  const known = { ...knownOfHistory(core, keyId), isEverything: true, atMs, nowMs }
  const ask = async (number: number) => {
    const wanted = { ...known, page: { number, perPage: readPageEventsMax, isOldestFirst: true } }
    return answerOf(await core.questions.ask('keyHistory', wanted, { owner: 'cli', isAtOnce: true }))
  }
  let asked = await ask(1)
  const { atInstant: then } = asked
  if (then?.ok === false) return { exitCode: exitCodes.usage, message: then.refusal.rule }
  for (; ; asked = await ask(asked.page + 1)) {
    for (const row of asked.shown.flat()) yield lineOf(row)
    if (asked.page === asked.pages) break
  }
  if (then !== null) {
    const { status, reason } = then.value.state
    yield { kind: 'state', value: { key: keyId, at: isoOf(atMs), status, reason } }
  }
  return { exitCode: exitCodes.done, message: null }
}

const lineOf = ({ event, changes, after }: HistoryRow): Line => ({
  kind: 'history',
  value: {
    position: String(event.position),
    stream: event.stream,
    revision: event.revision,
    type: event.type,
    recordedAt: isoOf(event.recordedAt),
    by: event.metadata.by,
    changes: changes.map(changeText),
    status: after.status,
    reason: after.reason,
  },
})

const changeText = (change: KeyChange): string => {
  switch (change.field) {
    case 'limit':
      return fromTo('limit', change.from === undefined ? undefined : limitText(change.from), limitText(change.to))
    case 'expiresAt':
      return fromTo('expiry', change.from === undefined ? undefined : expiryText(change.from), expiryText(change.to))
    case 'predecessor':
      return `rotated from clr_${change.keyId}`
    case 'successor': {
      const { keyId, overlapMs } = change
      return `rotated to clr_${keyId}; this key stops ${overlapMs === 0 ? 'at' : `${overlapTyped(overlapMs)} after`} the first reading with the new key`
    }
    case 'superseded':
      return `new key clr_${change.keyId} first used ${isoOf(change.usedAt)}`
    case 'keyRevision':
      return `changes up to revision ${change.to} of the key are in force on every node`
    case 'purged': {
      const { readings, revisions, acceptedBefore, lastAcceptedAt } = change
      const range = `revisions ${revisions.first} to ${revisions.last}`
      return `${readings} readings deleted by the retention (${range}), accepted before ${isoOf(acceptedBefore)}, the last at ${isoOf(lastAcceptedAt)}`
    }
    default:
      return fromTo(change.field, change.from, change.to)
  }
}

const fromTo = (field: string, from: string | undefined, to: string): string =>
  from === undefined ? `${field}: ${to}` : `${field}: ${from} -> ${to}`

const limitText = (limit: Limit | null): string =>
  limit === null ? "the cellar's" : `${limit.readings}/${limit.windowMs / 1_000}`

const expiryText = (expiresAt: number | null): string => (expiresAt === null ? 'never' : isoOf(expiresAt))
