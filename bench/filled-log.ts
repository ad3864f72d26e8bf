import type { NewEvent } from '../src/domain/events.ts'
import { makeKey, makeKeyId } from '../src/domain/key-format.ts'
import { cellarStream, keyStream, readingsStream } from '../src/domain/stream-names.ts'
import { systemEntropy } from '../src/entropy.ts'
import type { EventLog } from '../src/log/event-log.ts'
import { ensureLogCreated } from '../src/log/log-identity.ts'

/** For 10,000 keys, these numbers give 100 cellars and 100,000 kegs. */
const keysPerCellar = 100
const kegsPerKey = 10
const appendsAtOnce = 400

/**
 * `revision` is the last revision in the stream of the key's readings, or -1 if it is empty. The next append expects
 * this revision.
 */
export type FilledKey = { readonly key: string; readonly keyId: string; readonly cellar: string; revision: number }

/** `now` is the time of all events. */
export const fillKeys = async (log: EventLog, count: number, now = Date.now()): Promise<readonly FilledKey[]> => {
  await ensureLogCreated(log, { now: () => now }, systemEntropy)
  const keys: FilledKey[] = []
  while (keys.length < count) {
    const cellar = `cellar-${keys.length / keysPerCellar}`
    await log.append(cellarStream(cellar), 'none', [cellarCreated(cellar, now)])
    const made = Array.from({ length: Math.min(keysPerCellar, count - keys.length) }, () => newKey(cellar, now))
    await Promise.all(made.map(({ filled, created }) => log.append(keyStream(filled.keyId), 'none', [created])))
    keys.push(...made.map(({ filled }) => filled))
  }
  return keys
}

/** Each append has twenty readings of one key, two for each of its kegs. The keys take turns, as in a real log. */
export const fillReadings = async (log: EventLog, keys: readonly FilledKey[], readings: number): Promise<void> => {
  const perAppend = 20
  for (let written = 0; written < readings; ) {
    for (let from = 0; from < keys.length && written < readings; from += appendsAtOnce) {
      const group = keys.slice(from, from + appendsAtOnce)
      await Promise.all(group.map((key, index) => append(log, key, readingsOf(key, from + index, perAppend))))
      written += group.length * perAppend
    }
  }
}

const append = async (log: EventLog, key: FilledKey, events: readonly NewEvent[]): Promise<void> => {
  const expected = key.revision < 0 ? 'none' : key.revision
  key.revision += events.length
  const { outcome } = await log.append(readingsStream(key.keyId), expected, events)
  if (outcome !== 'written') throw new Error(`Cannot fill the log: an append was answered with ${outcome}`)
}

/** `of` is the number of the key. `turn` counts the readings of this key, and so chooses the keg and the value. */
export const readingOf = (cellar: string, of: number, turn: number, timestamp: string) => ({
  cellar,
  rack: `rack-${of}`,
  keg: `sensor-${turn % kegsPerKey}`,
  value: 18 + (turn % 1_000) / 7,
  timestamp,
})

export const timestampNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`

const readingsOf = ({ keyId, cellar, revision }: FilledKey, of: number, count: number): readonly NewEvent[] => {
  const timestamp = timestampNow()
  const recordedAt = Date.now()
  return Array.from({ length: count }, (_, index): NewEvent => {
    const id = systemEntropy.uuid()
    const metadata = { by: { kind: 'key', keyId }, requestId: id, correlationId: id, causationId: id } as const
    const data = readingOf(cellar, of, revision + 1 + index, timestamp)
    return { id, type: 'ReadingAccepted', recordedAt, data, metadata }
  })
}

/** Writes `perAppend` events in each append. The service writes only one event, but larger appends fill the log faster. */
export const fillKeyEvents = async (
  log: EventLog,
  keys: readonly FilledKey[],
  { events, perAppend }: { readonly events: number; readonly perAppend: number },
): Promise<void> => {
  let written = 0
  for (let revision = 0; written < events; revision += perAppend) {
    const data = { label: `Press ${revision}`, note: '' }
    const relabelled = (): NewEvent => ({ type: 'KeyRelabelled', data, ...byCommandLine() })
    for (let from = 0; from < keys.length && written < events; from += appendsAtOnce) {
      const group = keys.slice(from, from + appendsAtOnce)
      const run = (): NewEvent[] => Array.from({ length: perAppend }, relabelled)
      await Promise.all(group.map(({ keyId }) => log.append(keyStream(keyId), revision, run())))
      written += group.length * perAppend
    }
  }
}

const cellarCreated = (cellar: string, now: number): NewEvent => ({
  type: 'CellarCreated',
  data: { cellar, title: cellar },
  ...byCommandLine(now),
})

const newKey = (cellar: string, now: number): { readonly filled: FilledKey; readonly created: NewEvent } => {
  const keyId = makeKeyId(systemEntropy.bytes(16))
  const { key, secretHash } = makeKey(keyId, systemEntropy.bytes(32))
  const limit = { readings: 10_000_000, windowMs: 60_000 }
  const data = { keyId, cellar, label: 'Press', note: '', secretHash, limit, expiresAt: null, predecessorId: null }
  return { filled: { key, keyId, cellar, revision: -1 }, created: { type: 'KeyCreated', data, ...byCommandLine(now) } }
}

const byCommandLine = (recordedAt = Date.now()) => {
  const id = systemEntropy.uuid()
  const metadata = { by: { kind: 'cli' }, requestId: id, correlationId: id, causationId: id } as const
  return { id, recordedAt, metadata }
}
