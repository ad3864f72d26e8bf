/** What the records of several folds have in common, written and read side by side. */
import type { By, Limit, Role } from '../src/domain/events.ts'
import type { Mark } from '../src/domain/key.ts'
import type { OperatorLink } from '../src/domain/operator.ts'
import { assertNever } from '../src/domain/refusal.ts'
import type { RecordReader, RecordWriter } from './records.ts'

const byKinds = { operator: 0, key: 1, cli: 2, system: 3 } as const

export const writeBy = (to: RecordWriter, by: By): void => {
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

export const readBy = (from: RecordReader): By => {
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
      throw new RangeError(`nobody is of kind ${kind}`)
  }
}

const readByOperator = (from: RecordReader): By => {
  const email = from.name()
  const session = from.optional(() => ({ id: from.name(), linkMadeBy: from.optional(() => from.name()) }))
  return session === null ? { kind: 'operator', email } : { kind: 'operator', email, session }
}

export const writeMark = (to: RecordWriter, { at, by, reason }: Mark): void => {
  to.whole(at)
  writeBy(to, by)
  to.text(reason)
}

export const readMark = (from: RecordReader): Mark => ({ at: from.whole(), by: readBy(from), reason: from.text() })

export const writeLimit = (to: RecordWriter, { readings, windowMs }: Limit): void => {
  to.whole(readings)
  to.whole(windowMs)
}

export const readLimit = (from: RecordReader): Limit => ({ readings: from.whole(), windowMs: from.whole() })

export const writeRole = (to: RecordWriter, role: Role): void => to.flag(role === 'admin')

export const readRole = (from: RecordReader): Role => (from.flag() ? 'admin' : 'auditor')

export const writeLink = (to: RecordWriter, { linkHash, role, expiresAt, madeBy }: OperatorLink): void => {
  to.text(linkHash)
  writeRole(to, role)
  to.whole(expiresAt)
  to.name(madeBy)
}

export const readLink = (from: RecordReader): OperatorLink => ({
  linkHash: from.text(),
  role: readRole(from),
  expiresAt: from.whole(),
  madeBy: from.name(),
})
