import type { Projections } from '../../projections/queries.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'

/**
 * Returns all answers of the projections at the time `now`, so that a test can compare two projections. `events` are
 * the folded events, because only they contain the hashes by which sessions and links are found.
 */
export const snapshotOf = (
  { position, cellars, keys, readings, operators }: Projections,
  events: readonly RecordedEvent[],
  now: number,
) => ({
  position,
  cellars: cellars.list().map((cellar) => ({
    cellar,
    found: cellars.get(cellar.cellar),
    keys: keys.ofCellar(cellar.cellar),
  })),
  keys: keys.list().map((key) => ({
    key,
    found: keys.get(key.keyId),
    limit: keys.effectiveLimit(key),
    usage: readings.usage(key.keyId),
    barriers: readings.barriers(key.keyId),
    purged: readings.purged(key.keyId),
  })),
  gaps: readings.gaps(),
  operators: operators.list().map((operator) => ({ operator, found: operators.get(operator.email) })),
  invitations: operators.invitations(now),
  sessions: hashesOf(events, 'OperatorSignedIn').map((hash) => [hash, operators.session(hash, now)]),
  links: hashesOf(events, 'OperatorLinkIssued').map((hash) => [hash, operators.link(hash, now)]),
})

const hashesOf = (events: readonly RecordedEvent[], type: 'OperatorSignedIn' | 'OperatorLinkIssued') =>
  events.flatMap((event) => {
    if (event.type !== type) return []
    if (event.type === 'OperatorSignedIn') return [event.data.sessionHash]
    return event.type === 'OperatorLinkIssued' ? [event.data.linkHash] : []
  })
