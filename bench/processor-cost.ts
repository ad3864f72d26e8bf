import { batchReadingsMax } from '../src/limits.ts'
import { median, percentile, table } from './figures.ts'
import type { Burst, BurstMs, Bursts } from './load/bursts.ts'
import { type StartedLoad, startLoad } from './load/load-process.ts'
import { newRacksBody, postNewRacks, rackNames } from './load/new-racks.ts'
import { createKey, type EmptyService, startEmptyService } from './servers.ts'
import { busyMicrosecondsBetween, busyNanosecondsOf } from './watch/process-figures.ts'

export type ProcessorCost = {
  readonly rounds: number
  readonly checkout: string
  /** `single` or `batch`; `null` means both. */
  readonly what: string | null
  /** The EventStoreDB server of both services. `null` means the embedded log. */
  readonly storeUrl: string | null
  /** Both services refuse about this number of requests each second of a burst. */
  readonly refusedPerSecond: number
  /** A burst is this number of times as long. Work that the service does once a second then counts once for each second of load. */
  readonly scale: number
  /** Both services have and watch this number of kegs before the first burst. */
  readonly kegs: number
}

type Shape = {
  readonly what: 'single' | 'batch'
  readonly name: string
  readonly batchReadings: number
  readonly connections: number
  /** Number of requests in a burst, chosen so that a burst takes some tenths of a second. */
  readonly requests: number
}

const shapes: readonly Shape[] = [
  { what: 'single', name: 'single readings', batchReadings: 0, connections: 64, requests: 2_000 },
  { what: 'batch', name: 'batches of 100', batchReadings: 100, connections: 16, requests: 240 },
  { what: 'batch', name: 'batches of 1,000', batchReadings: 1_000, connections: 16, requests: 48 },
]

/**
 * A pair is a burst to each version, one right after the other, so noise hits both. Several ways to compare were tried:
 * the median of the ratios of pairs varied least.
 */
const pairsPerRound = 20
/**
 * Two processes of the same version can differ in memory and compiled code. So both services start anew after this
 * number of rounds.
 */
const roundsPerProcess = 4
/**
 * The JavaScript engine compiles the often used code in these bursts, which are not measured. With 20 bursts it went on compiling in
 * the first rounds, which cost more in the version with more code.
 */
const warmUpBursts = 60
/**
 * The service still works after its last answer, for example on the events that EventStoreDB returns. That work counts, so
 * the measurement waits until the service takes less than 1% of a processor for `idleMs`, or at most `idleTries` times.
 */
const idleMs = 100
const idleMicrosecondsMax = 1_000
const idleTries = 20
const cellar = 'wine-berlin1'
/** From then on, a keg has a usual pause. */
const requestsOfKeg = 3
const refusedKeys = 64
/** Enough that a long burst of batches stays below the highest limit of a key. */
const acceptedKeys = 8

/** Processor time in µs per accepted request: `all` threads, or only the thread of the event `loop`. */
type Cost = { readonly all: number; readonly loop: number }
type Pair = { readonly ours: Cost; readonly theirs: Cost }
type Round = readonly Pair[]

/**
 * Compares the processor time of a request in this checkout and in another one. The time includes all threads and the
 * kernel. Both services run, but only one gets requests at a time.
 */
export const benchProcessorCost = async ({
  rounds,
  checkout,
  what,
  storeUrl,
  refusedPerSecond,
  scale,
  kegs,
}: ProcessorCost): Promise<void> => {
  const wanted = shapes
    .filter((shape) => what === null || shape.what === what)
    .map((shape) => ({ ...shape, requests: shape.requests * scale }))
  if (wanted.length === 0) throw new Error(`Cannot compare "${what}": it is single or batch`)
  const rows: string[][] = []
  for (const shape of wanted) {
    const measured: Round[] = []
    let isOursFirst = true
    while (measured.length < rounds) {
      const next = Math.min(roundsPerProcess, rounds - measured.length)
      const options = { checkout, storeUrl, refusedPerSecond, kegs, rounds: next, isOursFirst }
      measured.push(...(await measurePair(shape, options)))
      isOursFirst = !isOursFirst
    }
    rows.push(...rowsOf(shape, measured))
  }
  const log = storeUrl === null ? 'the embedded log' : 'EventStoreDB'
  const watched = kegs === 0 ? '' : `, beside ${kegs} kegs`
  const beside = refusedPerSecond === 0 ? '' : `, with its share of about ${refusedPerSecond} refused requests a second`
  console.log(
    `\nProcessor time of a request${beside}${watched}, this checkout by ${checkout}, on ${log}; ${rounds} rounds of ${pairsPerRound} pairs of bursts\n`,
  )
  const head = [
    '',
    'this, µs',
    'the other, µs',
    'ratio, median',
    'of 95%, between',
    'middle half of rounds',
    'all rounds',
  ]
  console.log(table([head, ...rows]))
}

type Measured = { readonly service: EmptyService; readonly load: StartedLoad<Burst, BurstMs> }

type PairOptions = Pick<ProcessorCost, 'checkout' | 'storeUrl' | 'refusedPerSecond' | 'kegs'> & {
  readonly rounds: number
  /** True if the service of this checkout starts first. This alternates, so that neither version has an advantage. */
  readonly isOursFirst: boolean
}

const measurePair = async (
  shape: Shape,
  { checkout, storeUrl, refusedPerSecond, kegs, rounds, isOursFirst }: PairOptions,
): Promise<readonly Round[]> => {
  await using started = new AsyncDisposableStack()
  const start = async (options: { readonly checkout?: string }): Promise<EmptyService> => {
    const service = await startEmptyService({ ...options, env: storeUrl === null ? {} : freshStore(storeUrl) })
    started.defer(() => service.stop())
    await service.ask({ op: 'create_cellar', cellar, title: '' })
    await fillKegs(service, kegs)
    return service
  }
  const withLoad = async (service: EmptyService): Promise<Measured> => {
    const { batchReadings, connections } = shape
    const bursts = await startLoad<Bursts, Burst, BurstMs>('bursts.ts', {
      url: service.url,
      keys: await keysOf(service, acceptedKeys),
      cellar,
      batchReadings,
      connections,
      refusedKeys: await keysOf(service, refusedPerSecond === 0 ? 0 : refusedKeys),
    })
    started.defer(() => bursts.stop())
    return { service, load: bursts }
  }
  // The loads start last. A service closes connections that are idle while the other service reads a long log.
  const first = await start(isOursFirst ? {} : { checkout })
  const second = await start(isOursFirst ? { checkout } : {})
  const [ours, theirs] = isOursFirst
    ? [await withLoad(first), await withLoad(second)]
    : [await withLoad(second), await withLoad(first)]
  const burst = await warmUp(shape, [ours, theirs], refusedPerSecond)
  const measured: Round[] = []
  while (measured.length < rounds) measured.push(await measureRound(burst, { ours, theirs }))
  return measured
}

/** The requests are less than a minute apart, so all kegs are silent a minute later. A silent cellar is looked at most often. */
const fillKegs = async (service: EmptyService, kegs: number): Promise<void> => {
  const [plain] = rackNames
  if (kegs === 0 || plain === undefined) return
  const key = await createKey(service, cellar)
  for (let request = 0; request < requestsOfKeg; request += 1) {
    for (let batch = 0; batch < kegs / batchReadingsMax; batch += 1)
      await postNewRacks(service.url, key, newRacksBody(cellar, plain, batch))
  }
}

const keysOf = async (service: EmptyService, count: number): Promise<readonly string[]> => {
  const keys: string[] = []
  while (keys.length < count) keys.push(await createKey(service, cellar))
  return keys
}

/**
 * Returns the burst to measure. It has as many refused requests as fit the time that a burst takes, and both services get the same
 * number.
 */
const warmUp = async ({ requests }: Shape, both: readonly Measured[], refusedPerSecond: number): Promise<Burst> => {
  let burst: Burst = { accepted: requests, refused: 0 }
  for (let count = 0; count < warmUpBursts; count += 1) {
    let tookMs = 0
    for (const { load } of both) tookMs += await load.ask(burst)
    burst = { ...burst, refused: Math.round((refusedPerSecond * tookMs) / both.length / 1_000) }
  }
  return burst
}

/** Each service has streams of its own, so it gets only its own readings back from the server. */
const freshStore = (url: string) => ({
  EVENTSTORE_URL: url,
  EVENTSTORE_PREFIX: `compare${crypto.randomUUID().slice(0, 8)}-`,
})

/** Measures ours, theirs, theirs, ours, so neither version is always the first of a pair. */
const measureRound = async (
  burst: Burst,
  { ours, theirs }: { readonly ours: Measured; readonly theirs: Measured },
): Promise<Round> => {
  const pairs: Pair[] = []
  while (pairs.length < pairsPerRound) {
    const first = await costOf(ours, burst)
    pairs.push({ ours: first, theirs: await costOf(theirs, burst) })
    const second = await costOf(theirs, burst)
    pairs.push({ ours: await costOf(ours, burst), theirs: second })
  }
  return pairs
}

const costOf = async ({ service: { processId }, load }: Measured, burst: Burst): Promise<Cost> => {
  const before = busyNanosecondsOf(processId)
  await load.ask(burst)
  const used = busyMicrosecondsBetween(before, await busyWhenIdle(processId))
  return { all: sumOf(used) / burst.accepted, loop: (used.get(String(processId)) ?? 0) / burst.accepted }
}

const busyWhenIdle = async (processId: number): Promise<ReadonlyMap<string, number>> => {
  let busy = busyNanosecondsOf(processId)
  for (let tries = 0; tries < idleTries; tries += 1) {
    const before = busy
    await Bun.sleep(idleMs)
    busy = busyNanosecondsOf(processId)
    if (sumOf(busyMicrosecondsBetween(before, busy)) < idleMicrosecondsMax) break
  }
  return busy
}

const sumOf = (microseconds: ReadonlyMap<string, number>): number =>
  [...microseconds.values()].reduce((sum, one) => sum + one, 0)

const rowsOf = ({ name }: Shape, rounds: readonly Round[]): string[][] => [
  [name, ...figuresOf(rounds, ({ all }) => all)],
  [`${name}, the event loop alone`, ...figuresOf(rounds, ({ loop }) => loop)],
]

const figuresOf = (rounds: readonly Round[], figure: (cost: Cost) => number): string[] => {
  const pairs = rounds.flat()
  const ratios = rounds
    .map((round) => medianRatio(round.map(({ ours, theirs }) => figure(ours) / figure(theirs))))
    .toSorted((a, b) => a - b)
  const [low, high] = medianInterval(ratios)
  return [
    median(pairs.map(({ ours }) => figure(ours))).toFixed(1),
    median(pairs.map(({ theirs }) => figure(theirs))).toFixed(1),
    medianRatio(ratios).toFixed(3),
    `${low.toFixed(3)} and ${high.toFixed(3)}`,
    `${percentile(ratios, 25).toFixed(3)} to ${percentile(ratios, 75).toFixed(3)}`,
    `${percentile(ratios, 0).toFixed(3)} to ${percentile(ratios, 100).toFixed(3)}`,
  ]
}

/**
 * An even number of ratios has two middle ones, so this takes their geometric mean. The lower one alone would favour
 * this checkout by about a hundredth.
 */
const medianRatio = (ratios: readonly number[]): number => {
  const sorted = ratios.toSorted((a, b) => a - b)
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  const upper = sorted[Math.ceil((sorted.length - 1) / 2)] ?? Number.NaN
  return Math.sqrt(lower * upper)
}

/**
 * Returns the range that holds the true median with a probability of 95%. Each value is above or below the true median
 * like a toss of a coin. So this uses only the order of the values, and does not assume a normal distribution.
 */
const medianInterval = (sorted: readonly number[]): readonly [number, number] => {
  const { length } = sorted
  const from = Math.max(0, Math.floor((length - 1.96 * Math.sqrt(length)) / 2))
  return [sorted[from] ?? Number.NaN, sorted[length - 1 - from] ?? Number.NaN]
}
