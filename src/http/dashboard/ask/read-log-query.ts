import type { LogQuery } from '../../../../views/log/log-types.ts'
import { eventKinds } from '../../../domain/events/declare-event.ts'
import { isEventType } from '../../../domain/events.ts'
import { isKeyId } from '../../../domain/key-format.ts'
import { type LogFilter, parseActor } from '../../../domain/search/event-filter.ts'
import { parseInstantNear } from '../../../domain/search/near-instant.ts'
import { typedRange } from '../show/typed-instant.ts'
import type { LogListParts } from './log-list-parts.ts'

export const logQueryCharsMax = 300

export const logQueryOf = (query: URLSearchParams): LogQuery => {
  const text = (name: string): string => [...(query.get(name) ?? '').trim()].slice(0, logQueryCharsMax).join('')
  const [before, after] = [positionOf(text('before')), positionOf(text('after'))]
  const kind = eventKinds.find((known) => known === text('kind')) ?? null
  return {
    kind,
    unknownKind: kind === null ? text('kind') : '',
    type: text('type'),
    actor: text('actor'),
    cellar: text('cellar'),
    rack: text('rack'),
    key: text('key'),
    from: text('from'),
    to: text('to'),
    at: text('at'),
    before,
    after: before === null ? after : null,
    isPaused: text('live') === 'off',
  }
}

export const positionOf = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null)

type QueryFaults = Partial<Record<'kind' | 'type' | 'actor' | 'cellar' | 'rack' | 'key' | 'from' | 'to' | 'at', string>>

export type JudgedQuery = {
  readonly filter: LogFilter
  /** `null`: the newest end, or the page that the address names. */
  readonly atMs: number | null
  readonly faults: Readonly<QueryFaults>
}

export const judgeQuery = (query: LogQuery, { core, nowMs }: Pick<LogListParts, 'core' | 'nowMs'>): JudgedQuery => {
  const { cellars, keys } = core.projections
  const { since, until, faults: rangeFaults } = typedRange(query, nowMs)
  const faults: QueryFaults = { ...rangeFaults }
  const at = query.at === '' ? null : parseInstantNear(query.at, nowMs)
  if (at?.ok === false) faults.at = at.refusal.rule
  const key = query.key === '' ? null : keyIdIn(query.key)
  if (key !== null && keys.get(key) === null) faults.key = 'There is no key with this id.'
  if (query.cellar !== '' && cellars.get(query.cellar) === null)
    faults.cellar = 'There is no cellar with this identifier.'
  if (query.rack !== '' && query.cellar === '') faults.rack = 'Say which cellar the rack is in.'
  if (query.unknownKind !== '') faults.kind = `There is no kind of event "${query.unknownKind}".`
  const type = isEventType(query.type) ? query.type : null
  if (query.type !== '' && type === null) faults.type = 'There is no such type of event.'
  const atMs = at?.ok === true && query.before === null && query.after === null ? at.value : null
  const filter = { stream: null, kind: query.kind, type, actor: actorIn(query.actor, faults), key, since, until }
  const rack = query.rack === '' ? {} : { rack: { name: query.rack, keys: null } }
  return { filter: { ...filter, cellar: query.cellar === '' ? null : query.cellar, ...rack }, atMs, faults }
}

const actorIn = (typed: string, faults: QueryFaults): string | null => {
  if (typed === '') return null
  const actor = parseActor(typed)
  if (actor.ok) return actor.value
  faults.actor = actor.refusal.rule
  return null
}

/** Of an id or a public prefix. Other texts stay as they are. */
export const keyIdIn = (typed: string): string => {
  const keyId = /^(?:clr_)?([0-9A-Za-z]+)(?:_…?)?$/.exec(typed)?.[1] ?? ''
  return isKeyId(keyId) ? keyId : typed
}
