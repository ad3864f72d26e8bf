/**
 * Functions for checkpoint fields that several projections save. Writer and reader stand together, so that nobody
 * changes only one of them.
 */
import type { By, Limit, RecordedEvent, Role } from '../src/domain/events.ts'
import type { Attribution } from '../src/domain/key.ts'
import type { OperatorLink } from '../src/domain/operator.ts'
import { assertNever } from '../src/domain/refusal.ts'
import type { Barrier, Purged } from './queries.ts'
import type { PieceReader, PieceWriter } from './saved-pieces.ts'

const byKinds = { operator: 0, key: 1, cli: 2, system: 3 } as const

export const writeBy = (to: PieceWriter, by: By): void => {
  to.byte(byKinds[by.kind])
  switch (by.kind) {
    case 'operator':
      to.name(by.email)
      to.optional(by.session ?? null, ({ id, linkMadeBy }) => {
        to.name(id)
        to.optional(linkMadeBy, (email) => to.name(email))
      })
      return
    case 'key':
      to.name(by.keyId)
      return
    case 'cli':
    case 'system':
      return
    default:
      assertNever(by)
  }
}

export const readBy = (from: PieceReader): By => {
  const kind = from.byte()
  switch (kind) {
    case byKinds.operator:
      return readByOperator(from)
    case byKinds.key:
      return { kind: 'key', keyId: from.name() }
    case byKinds.cli:
      return { kind: 'cli' }
    case byKinds.system:
      return { kind: 'system' }
    default:
      throw new RangeError(`a change was made by unknown kind ${kind}`)
  }
}

const readByOperator = (from: PieceReader): By => {
  const email = from.name()
  const session = from.optional(() => ({ id: from.name(), linkMadeBy: from.optional(() => from.name()) }))
  return session === null ? { kind: 'operator', email } : { kind: 'operator', email, session }
}

export const writeAttribution = (to: PieceWriter, { at, by, reason }: Attribution): void => {
  to.whole(at)
  writeBy(to, by)
  to.text(reason)
}

export const readAttribution = (from: PieceReader): Attribution => ({
  at: from.whole(),
  by: readBy(from),
  reason: from.text(),
})

export const writeLimit = (to: PieceWriter, { readings, windowMs }: Limit): void => {
  to.whole(readings)
  to.whole(windowMs)
}

export const readLimit = (from: PieceReader): Limit => ({ readings: from.whole(), windowMs: from.whole() })

export const writeRole = (to: PieceWriter, role: Role): void => to.flag(role === 'admin')

export const readRole = (from: PieceReader): Role => (from.flag() ? 'admin' : 'auditor')

export const writeLink = (to: PieceWriter, { linkHash, role, expiresAt, madeBy }: OperatorLink): void => {
  to.text(linkHash)
  writeRole(to, role)
  to.whole(expiresAt)
  to.name(madeBy)
}

export const readLink = (from: PieceReader): OperatorLink => ({
  linkHash: from.text(),
  role: readRole(from),
  expiresAt: from.whole(),
  madeBy: from.name(),
})

/** The fields of an event, without its stream, type and data. */
type EventHead = Pick<RecordedEvent, 'revision' | 'position' | 'recordedAt' | 'id' | 'metadata'>

const writeEventHead = (to: PieceWriter, { revision, position, recordedAt, id, metadata }: EventHead): void => {
  to.whole(revision)
  to.whole(position)
  to.whole(recordedAt)
  to.text(id)
  writeBy(to, metadata.by)
  to.text(metadata.requestId)
  to.text(metadata.correlationId)
  to.text(metadata.causationId)
}

const readEventHead = (from: PieceReader) => ({
  revision: from.whole(),
  position: from.whole(),
  recordedAt: from.whole(),
  id: from.text(),
  metadata: {
    by: readBy(from),
    requestId: from.text(),
    correlationId: from.text(),
    causationId: from.text(),
  },
})

/** Writes all but the name of the stream, which the caller has already written. */
export const writeBarrier = (to: PieceWriter, barrier: Barrier): void => {
  writeEventHead(to, barrier)
  to.flag(barrier.type === 'ReadingsSealed')
  if (barrier.type === 'ReadingsSealed') to.text(barrier.data.reason)
  else to.whole(barrier.data.keyRevision)
}

export const readBarrier = (from: PieceReader, stream: string): Barrier => {
  const common = { stream, ...readEventHead(from) }
  return from.flag()
    ? { ...common, type: 'ReadingsSealed', data: { reason: from.text() } }
    : { ...common, type: 'ReadingsFenced', data: { keyRevision: from.whole() } }
}

export const writePurged = (to: PieceWriter, { keptFrom, readings, last }: Purged): void => {
  const { cellar, keyId, firstRevision, lastRevision, acceptedBefore, lastAcceptedAt } = last.data
  to.whole(keptFrom)
  to.whole(readings)
  to.name(last.stream)
  writeEventHead(to, last)
  to.name(cellar)
  to.text(keyId)
  to.whole(firstRevision)
  to.whole(lastRevision)
  to.whole(last.data.readings)
  to.whole(acceptedBefore)
  to.whole(lastAcceptedAt)
}

export const readPurged = (from: PieceReader): Purged => ({
  keptFrom: from.whole(),
  readings: from.whole(),
  last: {
    type: 'ReadingsPurged',
    stream: from.name(),
    ...readEventHead(from),
    data: {
      cellar: from.name(),
      keyId: from.text(),
      firstRevision: from.whole(),
      lastRevision: from.whole(),
      readings: from.whole(),
      acceptedBefore: from.whole(),
      lastAcceptedAt: from.whole(),
    },
  },
})
