import {
  type AuditEvent,
  type HistoryRow,
  historyOf,
  type KeyAt,
  stateAt,
} from '../../../../projections/audit-trail.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import type { EventThen, KeyThen, StateAt } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core.ts'
import { stateAtInstant } from '../../../actors/search/event-context.ts'
import type { KeyState } from '../../../domain/key.ts'
import type { KeyStatus } from '../../../domain/key-refusal.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import { nothingBefore } from '../../../domain/search/state-before.ts'
import { cellarStream } from '../../../domain/stream-names.ts'
import { keyLimitDefault } from '../../../limits.ts'
import { namesAt } from './event-names.ts'
import { isInternal } from './history-views.ts'

export const stateAtTyped = async (
  core: Pick<Core, 'log' | 'projections'>,
  events: readonly AuditEvent[],
  { typed, nowMs }: { readonly typed: string; readonly nowMs: number },
): Promise<StateAt> => {
  const instant = parseInstantNear(typed, nowMs)
  if (!instant.ok) return { typed, answer: { kind: 'refused', rule: instant.refusal.rule } }
  const state = stateAt(events, instant.value, nowMs)
  if (!state.ok) return { typed, answer: { kind: 'refused', rule: state.refusal.rule } }
  const then = await keyThen(core, events, { at: instant.value, state: state.value })
  return { typed, answer: { kind: 'known', at: instant.value, ...then } }
}

type Then = { readonly at: number; readonly state: KeyAt }

const keyThen = async (
  core: Pick<Core, 'log' | 'projections'>,
  events: readonly AuditEvent[],
  { at, state }: Then,
): Promise<KeyThen> => {
  const rows = historyOf(events)
  const shown = rows.filter(({ event }) => !isInternal(event))
  const { key, status, decidedBy } = state
  return {
    key: key === null || status === null ? null : await keyFacts(core, key, { at, status }),
    decidedBy: eventThen(
      core,
      rows.find(({ event }) => event === decidedBy),
    ),
    previous: eventThen(
      core,
      shown.findLast(({ event }) => event.recordedAt <= at),
    ),
    next: eventThen(
      core,
      shown.find(({ event }) => event.recordedAt > at),
    ),
  }
}

const eventThen = (core: Pick<Core, 'projections'>, row: HistoryRow | undefined): EventThen | null => {
  if (row === undefined) return null
  const { event, before } = row
  const { stream, revision, position, recordedAt, metadata } = event
  return {
    stream,
    revision,
    position,
    at: recordedAt,
    by: metadata.by,
    reason: 'reason' in event.data ? event.data.reason : '',
    sentence: sentenceOf(event, { ...nothingBefore, key: before }, namesAt(core, event.position)),
  }
}

const keyFacts = async (
  { log }: Pick<Core, 'log'>,
  { cellar, label, note, expiresAt, limit }: KeyState,
  { at, status }: { readonly at: number; readonly status: KeyStatus },
): Promise<KeyThen['key']> => {
  const facts = { status, label, note, expiresAt, hasOwnLimit: limit !== null }
  if (limit !== null) return { ...facts, limit }
  const { isKnown, cellar: then } = await stateAtInstant(log, cellarStream(cellar), at)
  return { ...facts, limit: isKnown ? (then?.policy.limit ?? keyLimitDefault) : null }
}
