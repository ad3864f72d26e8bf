import { rmSync } from 'node:fs'
import { Follower } from '../src/derived/follower.ts'
import type { FromFollower } from '../src/derived/follower-messages.ts'
import type { ModelKind } from '../src/derived/model.ts'
import { modelKinds } from '../src/derived/model-kinds.ts'
import { secondText } from '../src/domain/calendar.ts'
import { ColumnsBuilder } from '../src/domain/reading/columns.ts'
import { NameCache } from '../src/domain/reading/name-cache.ts'
import { ReadingRun, type RunRequest } from '../src/domain/reading/recorded-run.ts'
import { readingsStream } from '../src/domain/stream-names.ts'
import { systemEntropy } from '../src/entropy.ts'
import { logPathIn } from '../src/log/data-folder.ts'
import { FileSource } from '../src/log/sqlite/reads/file-source.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { median, table } from './figures.ts'
import { type FilledKey, fillKeys } from './filled-log.ts'
import { benchFolder } from './servers.ts'

const keys = 10
const kegsPerKey = 1_000
/** Each keg has a reading every ten seconds. */
const msPerReading = 1
const startMs = Date.UTC(2026, 0, 1)
const appendsAtOnce = 400

type Shape = { readonly name: string; readonly perRow: number; readonly isBatch: boolean }

const shapes: readonly Shape[] = [
  { name: 'single', perRow: 1, isBatch: false },
  { name: 'single, 16 in a row', perRow: 16, isBatch: false },
  { name: 'batches of 1,000', perRow: 1_000, isBatch: true },
]

/** Measures how fast the follower reads a log with 10,000 kegs and folds it: for no model, for each one alone, and for all. */
export const benchFold = async (readings: number, rounds: number): Promise<void> => {
  const sets = [[], ...modelKinds.map((kind) => [kind]), modelKinds]
  const rows: string[][] = []
  for (const shape of shapes) {
    const dataDir = benchFolder()
    try {
      const endMs = await fill(dataDir, shape, readings)
      const seconds = sets.map((): number[] => [])
      const steps = sets.map((): number[] => [])
      for (let round = 0; round < rounds; round += 1) {
        for (const [index, kinds] of sets.entries()) {
          const run = kinds.length === 0 ? await read(dataDir) : await follow(dataDir, kinds, endMs)
          seconds[index]?.push(run.busySeconds)
          steps[index]?.push(run.longestStepMs)
        }
      }
      rows.push([
        shape.name,
        ...seconds.map((of, index) => {
          const rate = readings / median(of) / 1_000
          return `${rate.toFixed(0)} (${median(steps[index] ?? []).toFixed(0)} ms)`
        }),
      ])
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  }
  console.log(
    `\nThousands of ${readings} readings for each second of processor, and the longest step; ${rounds} rounds\n`,
  )
  console.log(table([['readings', 'log alone', ...modelKinds.map(({ name }) => name), 'all'], ...rows]))
}

/** Returns the time after the last reading. */
const fill = async (dataDir: string, shape: Shape, readings: number): Promise<number> => {
  const log = openSqliteLog({ dataDir })
  const names = new NameCache(13)
  const filled = await fillKeys(log, keys, startMs)
  let written = 0
  while (written < readings) {
    const appends: Promise<void>[] = []
    while (written < readings && appends.length < appendsAtOnce / Math.sqrt(shape.perRow)) {
      // Single readings come in any order.
      const number = shape.isBatch ? (written / shape.perRow) % keys : Math.floor(Math.random() * keys)
      const key = filled[number]
      if (key === undefined) throw new Error('Cannot fill the log: there is no key')
      written += shape.perRow
      const run = runOf(key, { shape, number, names, nowMs: startMs + written * msPerReading })
      const expected = key.revision < 0 ? 'none' : key.revision
      key.revision += run.count
      appends.push(log.append(readingsStream(key.keyId), expected, run).then(() => run.giveBack()))
    }
    await Promise.all(appends)
  }
  await log.close()
  return startMs + written * msPerReading
}

type RunOf = { readonly shape: Shape; readonly number: number; readonly names: NameCache; readonly nowMs: number }

const runOf = ({ keyId, cellar, revision }: FilledKey, { shape, number, names, nowMs }: RunOf): ReadingRun => {
  const builder = new ColumnsBuilder()
  if (shape.isBatch) builder.begin(names.named(cellar))
  const requests: RunRequest[] = []
  for (let index = 1; index <= shape.perRow; index += 1) {
    const keg = (revision + index) % kegsPerKey
    const rack = `rack-${number}-${Math.floor(keg / 10)}`
    const value = Math.round(400 + 50 * Math.sin((revision + index) / 997)) / 100
    const timeMs = secondOf(nowMs)
    if (shape.isBatch) {
      builder.push({ rack: names.named(rack), keg: names.named(`keg-${keg}`), value, timeMs, text: null })
    } else {
      const readings = { cellar, rack, keg: `keg-${keg}`, value, timestamp: secondText(timeMs) }
      requests.push({ requestId: systemEntropy.uuid(), readings, idempotency: null })
    }
  }
  if (shape.isBatch) requests.push({ requestId: systemEntropy.uuid(), readings: builder.finish(), idempotency: null })
  return new ReadingRun(keyId, nowMs, requests)
}

const secondOf = (ms: number): number => ms - (ms % 1_000)

type Run = { readonly busySeconds: number; readonly longestStepMs: number }

const read = async (dataDir: string): Promise<Run> => {
  const source = new FileSource(logPathIn(dataDir))
  const began = process.cpuUsage()
  let longestStepMs = 0
  let position: number | null = null
  for (let isAtEnd = false; !isAtEnd; ) {
    const beganMs = performance.now()
    const page = await source.after(position)
    position = page.scannedTo
    isAtEnd = page.atEnd
    longestStepMs = Math.max(longestStepMs, performance.now() - beganMs)
  }
  await source.close()
  return { busySeconds: secondsSince(began), longestStepMs }
}

/** From empty files to the end of the log. */
const follow = async (dataDir: string, kinds: readonly ModelKind[], nowMs: number): Promise<Run> => {
  const modelsDir = benchFolder()
  const began = process.cpuUsage()
  let longestStepMs = 0
  let turnMs = performance.now()
  let isEnded = false
  const turn = (): void => {
    longestStepMs = Math.max(longestStepMs, performance.now() - turnMs)
    turnMs = performance.now()
    if (!isEnded) setImmediate(turn)
  }
  turn()
  const behind = new Set(kinds.map(({ name }) => name))
  const tell = (message: FromFollower): void => {
    if (message.kind !== 'progress' || message.progress.isBehind) return
    behind.delete(message.model)
    if (behind.size === 0) follower.close()
  }
  const follower: Follower = new Follower({
    dataDir: modelsDir,
    logId: 'log',
    copiedMs: null,
    kinds,
    source: new FileSource(logPathIn(dataDir)),
    now: () => nowMs,
    passedMs: () => performance.now(),
    tell,
  })
  await follower.run()
  isEnded = true
  const busySeconds = secondsSince(began)
  rmSync(modelsDir, { recursive: true })
  return { busySeconds, longestStepMs }
}

const secondsSince = (began: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1e6
}
