import type { By, NewEvent } from '../../src/domain/events.ts'
import { cellarStream, keyStream, readingsStream, refusalsStream } from '../../src/domain/stream-names.ts'
import { systemEntropy } from '../../src/entropy.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { type FilledKey, fillKeys, readingOf } from '../filled-log.ts'

/** The size of a log, in events. */
export type AskedSize = {
  readonly keys: number
  readonly keyEvents: number
  readonly readings: number
  readonly refusals: number
}

export const operators = 20
const readingsPerAppend = 20
const appendsPerRound = 400
const daysMs = 30 * 86_400_000

/** A key, with the last revision of each of its streams. `turn` counts its changes. */
type AskedKey = FilledKey & { keyRevision: number; refusalsRevision: number; turn: number }

/**
 * Fills an empty log with readings, changes of keys and cellars, and refusals, as they come in 30 days. All of them are spread
 * over the whole time. Operators and keys are random, and the same in each run.
 */
export const fillAskedLog = async (log: EventLog, size: AskedSize): Promise<void> => {
  const beginMs = Date.now() - daysMs
  const filled = await fillKeys(log, size.keys, beginMs)
  const keys = filled.map((key): AskedKey => Object.assign(key, { keyRevision: 0, refusalsRevision: -1, turn: 0 }))
  const cellars = new Map(keys.map(({ cellar }) => [cellar, 0]))
  const rounds = Math.ceil(size.readings / (readingsPerAppend * Math.min(appendsPerRound, keys.length)))
  const random = randomBelow()
  const oneOf = (): AskedKey => {
    const key = keys[random(keys.length)]
    if (key === undefined) throw new Error('Cannot fill the log: it has no keys')
    return key
  }
  for (let round = 0; round < rounds; round += 1) {
    const atMs = (share: number): number => beginMs + Math.floor(((round + share) / rounds) * daysMs)
    const dueUntil = (total: number): number =>
      Math.floor(((round + 1) * total) / rounds) - Math.floor((round * total) / rounds)
    const first = (round * appendsPerRound) % keys.length
    const posting = keys.slice(first, first + appendsPerRound)
    await Promise.all(posting.map((key, index) => appendReadings(log, key, { of: first + index, atMs: atMs(0.1) })))
    const changed = Array.from({ length: dueUntil(size.keyEvents - keys.length) }, oneOf)
    for (const part of parts(changed))
      await Promise.all(part.map((key) => appendChange(log, key, byOperator(random), atMs(0.4))))
    const refused = Array.from({ length: dueUntil(size.refusals) }, oneOf)
    for (const part of parts(refused)) await Promise.all(part.map((key) => appendRefusals(log, key, atMs(0.7))))
    const [cellar, revision = 0] = [...cellars][random(cellars.size)] ?? []
    if (cellar === undefined) continue
    cellars.set(cellar, revision + 1)
    const renamed = { type: 'CellarRenamed', data: { title: `${cellar}, ${round}` } } as const
    await write(log, cellarStream(cellar), revision, [{ ...renamed, ...askedBy(byOperator(random), atMs(0.9)) }])
  }
}

/** Whole numbers from 0 up to, but without, the bound. */
const randomBelow = (): ((bound: number) => number) => {
  let state = 20
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

/** Splits the keys so that no key comes twice in one part, because appends to one stream wait for each other. */
const parts = (keys: readonly AskedKey[]): readonly (readonly AskedKey[])[] => {
  const found: Set<AskedKey>[] = []
  for (const key of keys) {
    const free = found.find((part) => !part.has(key) && part.size < appendsPerRound)
    if (free === undefined) found.push(new Set([key]))
    else free.add(key)
  }
  return found.map((part) => [...part])
}

/** One operator in twenty makes half of the changes. */
const byOperator = (random: (bound: number) => number): By => {
  const number = random(2) === 0 ? 0 : random(operators)
  return { kind: 'operator', email: emailOf(number) }
}

export const emailOf = (operator: number): string => `operator-${operator}@example.org`

const askedBy = (by: By, recordedAt: number) => {
  const requestId = systemEntropy.requestId(recordedAt)
  const metadata = { by, requestId, correlationId: requestId, causationId: requestId }
  return { id: systemEntropy.uuid(), recordedAt, metadata }
}

const appendReadings = (log: EventLog, key: AskedKey, { of, atMs }: { readonly of: number; readonly atMs: number }) => {
  const { keyId, cellar, revision } = key
  key.revision += readingsPerAppend
  const timestamp = `${new Date(atMs).toISOString().slice(0, 19)}Z`
  const events = Array.from({ length: readingsPerAppend }, (_, index): NewEvent => {
    const id = systemEntropy.requestId(atMs)
    const metadata = { by: { kind: 'key', keyId }, requestId: id, correlationId: id, causationId: id } as const
    const data = readingOf(cellar, of, revision + 1 + index, timestamp)
    return { id, type: 'ReadingAccepted', recordedAt: atMs, data, metadata }
  })
  return write(log, readingsStream(keyId), revision, events)
}

/** Each key is relabelled, gets limits, and is suspended and resumed, again and again. */
const appendChange = (log: EventLog, key: AskedKey, by: By, atMs: number) => {
  const limit = { readings: 1_000 + key.turn, windowMs: 60_000 }
  const changes = [
    { type: 'KeyRelabelled', data: { label: `Press ${key.turn}`, note: '' } },
    { type: 'KeyLimitChanged', data: { limit } },
    { type: 'KeySuspended', data: { reason: 'a leak' } },
    { type: 'KeyResumed', data: { reason: 'it was none' } },
  ] as const
  const change = changes[key.turn % changes.length] ?? changes[0]
  key.turn += 1
  key.keyRevision += 1
  return write(log, keyStream(key.keyId), key.keyRevision - 1, [{ ...change, ...askedBy(by, atMs) }])
}

const appendRefusals = (log: EventLog, key: AskedKey, atMs: number) => {
  const sample = { requestId: systemEntropy.requestId(atMs), atMs, field: null, rule: null, rack: null, keg: null }
  const codes = ['key_is_suspended', 'invalid_field', 'limit_exceeded'] as const
  const code = codes[key.turn % codes.length] ?? codes[0]
  const data = { from: atMs - 60_000, to: atMs, counts: [{ code, count: 7 }], samples: [{ ...sample, code }] }
  key.refusalsRevision += 1
  const event: NewEvent = { type: 'ReadingsRefused', data, ...askedBy({ kind: 'system' }, atMs) }
  return write(log, refusalsStream(key.keyId), key.refusalsRevision - 1, [event])
}

const write = async (log: EventLog, stream: string, revision: number, events: readonly NewEvent[]): Promise<void> => {
  const { outcome } = await log.append(stream, revision < 0 ? 'none' : revision, events)
  if (outcome !== 'written') throw new Error(`Cannot fill the log: an append to ${stream} was answered with ${outcome}`)
}
