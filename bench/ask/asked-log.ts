import type { By, NewEvent } from '../../src/domain/events.ts'
import {
  cellarStream,
  keyStream,
  readingsStream,
  refusalsStream,
  signInsStream,
} from '../../src/domain/stream-names.ts'
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
const appendsPerRound = 20
/** Operators sign in, and cellars are renamed, once in this number of rounds. */
const roundsPerRareEvent = 20
const daysMs = 30 * 86_400_000
/**
 * Changes of one key with a long history. A page folds up to `stateBeforeEventsMax` of them (`src/limits.ts`), so almost as many
 * are the worst case.
 */
const longHistoryEvents = 9_000
/** The key with the long history has this share of all refusals, so it fills a page with them. */
const longHistoryRefusals = 1 / 100

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
  const rounds = Math.ceil(size.readings / (readingsPerAppend * appendsPerRound))
  const random = randomBelow()
  const sessions = new Sessions(random)
  const chosenOf = chooser(keys, size, random)
  for (let round = 0; round < rounds; round += 1) {
    const atMs = beginMs + Math.floor((round / rounds) * daysMs)
    const isSometimes = round % roundsPerRareEvent === 0
    if (isSometimes) await sessions.begin(log, atMs)
    const first = (round * appendsPerRound) % keys.length
    const posting = keys.slice(first, first + appendsPerRound)
    const { changed, refused } = chosenOf(round, rounds)
    const changes = changed.map((key) => ({ key, by: sessions.by() }))
    await Promise.all([
      ...posting.map((key, index) => appendReadings(log, key, { of: first + index, atMs })),
      inParts(changes, ({ key, by }) => appendChange(log, key, by, atMs)),
      inParts(
        refused.map((key) => ({ key })),
        ({ key }) => appendRefusals(log, key, atMs),
      ),
    ])
    const [cellar, revision = 0] = isSometimes ? ([...cellars][random(cellars.size)] ?? []) : []
    if (cellar === undefined) continue
    cellars.set(cellar, revision + 1)
    const renamed = { type: 'CellarRenamed', data: { title: `${cellar}, ${round}` } } as const
    await write(log, cellarStream(cellar), revision, [{ ...renamed, ...askedBy(sessions.by(), atMs) }])
  }
}

type Chosen = { readonly changed: readonly AskedKey[]; readonly refused: readonly AskedKey[] }

/** Returns a function that chooses the keys of a round: random ones, and the key with the long history. */
const chooser = (keys: readonly AskedKey[], size: AskedSize, random: (bound: number) => number) => {
  const [longKey] = keys
  if (longKey === undefined) throw new Error('Cannot fill the log: it has no keys')
  const ofLongKey = {
    changes: Math.min(longHistoryEvents, size.keyEvents / 2),
    refusals: size.refusals * longHistoryRefusals,
  }
  return (round: number, rounds: number): Chosen => {
    const dueOf = (total: number): number =>
      Math.floor(((round + 1) * total) / rounds) - Math.floor((round * total) / rounds)
    const several = (ofOthers: number, ofLong: number): readonly AskedKey[] => [
      ...Array.from({ length: dueOf(ofOthers) }, () => keys[random(keys.length)] ?? longKey),
      ...Array.from({ length: dueOf(ofLong) }, () => longKey),
    ]
    return {
      changed: several(size.keyEvents - keys.length - ofLongKey.changes, ofLongKey.changes),
      refused: several(size.refusals - ofLongKey.refusals, ofLongKey.refusals),
    }
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

/** No key comes twice in one part, because appends to one stream wait for each other. */
const inParts = async <Item extends { readonly key: AskedKey }>(
  items: readonly Item[],
  append: (item: Item) => Promise<void>,
): Promise<void> => {
  for (let left = items; left.length > 0; ) {
    const part = new Map(left.map((item) => [item.key, item]))
    await Promise.all([...part.values()].map(append))
    left = left.filter((item) => part.get(item.key) !== item)
  }
}

/** Operators sign in again and again. One operator in twenty makes half of the changes. */
class Sessions {
  readonly #random: (bound: number) => number
  readonly #open = new Map<number, string>()
  #revision = -1

  constructor(random: (bound: number) => number) {
    this.#random = random
  }

  async begin(log: EventLog, atMs: number): Promise<void> {
    const operator = this.#oneOf()
    const id = `session-${this.#revision + 1}`
    this.#open.set(operator, id)
    const data = { email: emailOf(operator), sessionId: id, address: '192.0.2.7', browser: 'Firefox on Linux' }
    const event: NewEvent = { type: 'SignInSeen', data, ...askedBy(this.#byOf(operator), atMs) }
    await write(log, signInsStream, this.#revision, [event])
    this.#revision += 1
  }

  by(): By {
    return this.#byOf(this.#oneOf())
  }

  #oneOf(): number {
    return this.#random(2) === 0 ? 0 : this.#random(operators)
  }

  #byOf(operator: number): By {
    const id = this.#open.get(operator)
    const by = { kind: 'operator', email: emailOf(operator) } as const
    return id === undefined ? by : { ...by, session: { id, linkMadeBy: null } }
  }
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
  const codes = ['KEY_SUSPENDED', 'INVALID_TIMESTAMP', 'RATE_LIMITED'] as const
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
