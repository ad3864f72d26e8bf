import type { By, RecordedEvent } from '../../domain/events.ts'
import { makerOf, sessionIdOf } from '../../domain/operator.ts'
import { operatorStream, signInsStream } from '../../domain/stream-names.ts'
import { refusedSignInAddressesMax } from '../../limits.ts'
import type { EventLog } from '../../log/event-log.ts'

/** Read from the operator's stream, and as many from `signins-node`, which has all addresses and browsers. */
const signInHistoryEventsMax = 1_000
export const signInHistoryRowsMax = 50

type SignInPlace = { readonly address: string; readonly browser: string }

/** In ms. A row `refused` counts the refused sign-ins between `from` and `at`. */
export type SignInRow =
  | {
      readonly kind: 'signed_in'
      readonly at: number
      readonly sessionId: string
      readonly linkMadeBy: string | null
      /** `purged`: the record with the address was deleted. `not_recorded`: the sign-in is older than such records. */
      readonly place: SignInPlace | 'purged' | 'not_recorded'
    }
  | { readonly kind: 'signed_out'; readonly at: number; readonly sessionId: string; readonly by: By }
  | { readonly kind: 'link_made'; readonly at: number; readonly madeBy: string; readonly isInvitation: boolean }
  | {
      readonly kind: 'password_set'
      readonly at: number
      readonly hasLink: boolean
      readonly linkMadeBy: string | null
    }
  | {
      readonly kind: 'refused'
      readonly at: number
      readonly from: number
      readonly failed: number
      readonly throttled: number
      readonly addresses: readonly string[]
    }

/** Newest first. Strangers can cause any number of refusals, so neighbouring ones become one row. @throws Outage */
export const signInHistory = async (log: Reads, email: string): Promise<readonly SignInRow[]> => {
  const own = await log.read(operatorStream(email), { direction: 'backwards', limit: signInHistoryEventsMax })
  const records = await log.read(signInsStream, { direction: 'backwards', limit: signInHistoryEventsMax })
  const rows = [
    ...own.flatMap(ownRow(addedAt(own))).slice(0, signInHistoryRowsMax),
    ...records.flatMap((event) => refusedRow(event, email)),
  ]
  const shown = withJoinedSums(rows.toSorted((a, b) => b.at - a.at))
  const places = placesIn(records)
  return Promise.all(shown.map((row) => withPlace(log, places, row)))
}

/** By revision of the sign-in's record. Purged records are missing. @throws Outage */
export const signInPlaces = async (
  log: Reads,
  revisions: readonly number[],
): Promise<ReadonlyMap<number, SignInPlace>> => {
  const found = await Promise.all(revisions.map(async (revision) => [revision, await placeAt(log, revision)] as const))
  return new Map(found.flatMap(([revision, place]) => (place === null ? [] : [[revision, place] as const])))
}

type Reads = Pick<EventLog, 'read'>

type OwnRow = SignInRow & { readonly seenRevision?: number | null }

/**
 * The revision of the event that first added the account. A link before it is an invitation. -1 if `own` lacks the stream's
 * first event: then no link counts as an invitation. The link's field `purpose` is not used: old events have none, and for
 * a removed account it is wrong.
 */
const addedAt = (own: readonly RecordedEvent[]): number => {
  if (own.at(-1)?.revision !== 0) return -1
  return own.findLast(({ type }) => type === 'OperatorAdded')?.revision ?? Number.POSITIVE_INFINITY
}

const ownRow =
  (added: number) =>
  (event: RecordedEvent): readonly OwnRow[] => {
    const at = event.recordedAt
    switch (event.type) {
      case 'OperatorSignedIn': {
        const { seenRevision } = event.data
        const by = event.metadata.by
        const linkMadeBy = by.kind === 'operator' ? (by.session?.linkMadeBy ?? null) : null
        const place = seenRevision === null ? 'not_recorded' : 'purged'
        return [{ kind: 'signed_in', at, sessionId: sessionIdOf(event.data), linkMadeBy, place, seenRevision }]
      }
      case 'OperatorSignedOut':
        return [{ kind: 'signed_out', at, sessionId: sessionIdOf(event.data), by: event.metadata.by }]
      case 'OperatorLinkIssued': {
        const isInvitation = event.revision < added
        return [{ kind: 'link_made', at, madeBy: makerOf(event.metadata.by, event.data.email), isInvitation }]
      }
      case 'OperatorPasswordSet':
        return [{ kind: 'password_set', at, hasLink: event.data.linkHash !== null, linkMadeBy: event.data.linkMadeBy }]
      default:
        return []
    }
  }

type RefusedRow = Extract<SignInRow, { readonly kind: 'refused' }>

const refusedRow = (event: RecordedEvent, email: string): readonly RefusedRow[] => {
  if (event.type !== 'SignInsRefused') return []
  const sums = event.data.accounts.find((account) => account.email === email)
  if (sums === undefined) return []
  const { failed, throttled, addresses } = sums
  return [{ kind: 'refused', at: event.data.to, from: event.data.from, failed, throttled, addresses }]
}

const withJoinedSums = (newestFirst: readonly OwnRow[]): readonly OwnRow[] => {
  const joined: OwnRow[] = []
  for (const row of newestFirst) {
    const newer = joined.at(-1)
    if (row.kind === 'refused' && newer?.kind === 'refused') joined[joined.length - 1] = sumOf(newer, row)
    else joined.push(row)
  }
  return joined
}

const sumOf = (newer: RefusedRow, older: RefusedRow): RefusedRow => ({
  kind: 'refused',
  at: newer.at,
  from: Math.min(newer.from, older.from),
  failed: newer.failed + older.failed,
  throttled: newer.throttled + older.throttled,
  addresses: [...new Set([...newer.addresses, ...older.addresses])].slice(0, refusedSignInAddressesMax),
})

const placesIn = (records: readonly RecordedEvent[]): ReadonlyMap<number, SignInPlace> =>
  new Map(records.flatMap((event) => (event.type === 'SignInSeen' ? [[event.revision, placeOf(event)] as const] : [])))

const withPlace = async (
  log: Reads,
  places: ReadonlyMap<number, SignInPlace>,
  { seenRevision = null, ...row }: OwnRow,
): Promise<SignInRow> => {
  if (row.kind !== 'signed_in' || seenRevision === null) return row
  return { ...row, place: places.get(seenRevision) ?? (await placeAt(log, seenRevision)) ?? row.place }
}

const placeAt = async (log: Reads, revision: number): Promise<SignInPlace | null> => {
  const [event] = await log.read(signInsStream, { from: revision, limit: 1 })
  return event?.type === 'SignInSeen' && event.revision === revision ? placeOf(event) : null
}

const placeOf = ({ data }: RecordedEvent<'SignInSeen'>): SignInPlace => ({
  address: data.address,
  browser: data.browser,
})
