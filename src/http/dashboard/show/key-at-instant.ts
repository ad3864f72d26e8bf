import type { HistoryRow } from '../../../../projections/audit-trail.ts'
import { sentenceOf } from '../../../../views/log/sentence.ts'
import type { EventThen, StateAt } from '../../../../views/types.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { KeyHistory, KeyThen } from '../../../asked/rows-of-history.ts'
import { nothingBefore } from '../../../domain/search/state-before.ts'
import type { Typed } from '../../../domain/text.ts'
import { namesAt } from './event-names.ts'

export const stateAtTyped = (
  core: Pick<Core, 'projections' | 'webhooks'>,
  then: KeyHistory['atInstant'],
  { typed, at }: { readonly typed: string; readonly at: Typed<number> },
): StateAt | null => {
  if (!at.ok) return { typed, answer: { kind: 'refused', rule: at.refusal.rule } }
  if (then === null) return null
  if (!then.ok) return { typed, answer: { kind: 'refused', rule: then.refusal.rule } }
  const { decidedBy, previous, next } = then.value
  return {
    typed,
    answer: {
      kind: 'known',
      at: at.value,
      key: keyFacts(then.value),
      decidedBy: eventThen(core, decidedBy),
      previous: eventThen(core, previous),
      next: eventThen(core, next),
    },
  }
}

const keyFacts = ({ state: { key, status }, limit }: KeyThen) => {
  if (key === null || status === null) return null
  const { label, note, expiresAt, limit: own } = key
  return { status, label, note, expiresAt, hasOwnLimit: own !== null, limit }
}

const eventThen = (core: Pick<Core, 'projections' | 'webhooks'>, row: HistoryRow | null): EventThen | null => {
  if (row === null) return null
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
