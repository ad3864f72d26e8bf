import type { Burst, Bursts } from './bursts.ts'
import { median, percentile, table } from './figures.ts'
import { type StartedLoad, startLoad } from './load-process.ts'
import { busyMicrosecondsBetween, busyNanosecondsOf } from './process-figures.ts'
import { createKey, type EmptyService, startEmptyService } from './servers.ts'

export type ProcessorCost = {
  readonly rounds: number
  /** Another version of the project. */
  readonly checkout: string
  /** `single`, `batch`, or both if `null`. */
  readonly what: string | null
}

type Shape = {
  readonly what: 'single' | 'batch'
  readonly name: string
  readonly batchReadings: number
  readonly connections: number
  /** Of one burst: some tenths of a second. */
  readonly requests: number
}

const shapes: readonly Shape[] = [
  { what: 'single', name: 'single readings', batchReadings: 0, connections: 64, requests: 2_000 },
  { what: 'batch', name: 'batches of 100', batchReadings: 100, connections: 16, requests: 240 },
  { what: 'batch', name: 'batches of 1,000', batchReadings: 1_000, connections: 16, requests: 48 },
]

/** Bursts of each of the two in a round. They take turns, so that whatever disturbs the machine disturbs both. */
const burstsPerRound = 10
/** A process has its own luck with memory and compiled code, so there are new ones after so many rounds. */
const roundsPerProcess = 4
/** Bursts until the engine has compiled what is hot. */
const warmUpBursts = 20
/** What is done behind the last answer belongs to the burst. */
const settleMs = 20
const cellar = 'wine-berlin1'

/** Processor time of a request, µs: this checkout, the other one, and this one by the other one. */
type Round = { readonly ours: number; readonly theirs: number; readonly ratio: number }

/**
 * What a request costs of processor in this checkout, and in another version of the project: all threads of the service, kernel
 * included, and nothing of the load. Both services run, and only one is asked at a time.
 */
export const benchProcessorCost = async ({ rounds, checkout, what }: ProcessorCost): Promise<void> => {
  const wanted = shapes.filter((shape) => what === null || shape.what === what)
  if (wanted.length === 0) throw new Error(`Cannot compare "${what}": it is single or batch`)
  const rows: string[][] = []
  for (const shape of wanted) {
    const measured: Round[] = []
    while (measured.length < rounds) {
      measured.push(...(await measurePair(shape, checkout, Math.min(roundsPerProcess, rounds - measured.length))))
    }
    rows.push(rowOf(shape, measured))
  }
  console.log(`\nProcessor time of a request, this checkout by ${checkout}; ${rounds} rounds in turn\n`)
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

type Measured = { readonly service: EmptyService; readonly load: StartedLoad<Burst, null> }

const measurePair = async (shape: Shape, checkout: string, rounds: number): Promise<readonly Round[]> => {
  await using started = new AsyncDisposableStack()
  const start = async (options: { readonly checkout?: string }): Promise<Measured> => {
    const service = await startEmptyService(options)
    started.defer(() => service.stop())
    await service.ask({ op: 'create_cellar', cellar, title: '' })
    const { url } = service
    const { batchReadings, connections } = shape
    const key = await createKey(service, cellar)
    const load = await startLoad<Bursts, Burst, null>('bursts.ts', { url, key, cellar, batchReadings, connections })
    started.defer(() => load.stop())
    return { service, load }
  }
  const ours = await start({})
  const theirs = await start({ checkout })
  for (let burst = 0; burst < warmUpBursts; burst += 1) {
    for (const { load } of [ours, theirs]) await load.ask(shape.requests)
  }
  const measured: Round[] = []
  for (let round = 0; round < rounds; round += 1) {
    const costs: Costs = { ours: [], theirs: [] }
    for (let burst = 0; burst < burstsPerRound; burst += 1) {
      // ABBA: neither of the two is always the first.
      if (burst % 2 === 0) costs.ours.push(await costOf(ours, shape))
      costs.theirs.push(await costOf(theirs, shape))
      if (burst % 2 === 1) costs.ours.push(await costOf(ours, shape))
    }
    measured.push(roundOf(costs))
  }
  return measured
}

type Costs = { readonly ours: number[]; readonly theirs: number[] }

const roundOf = ({ ours, theirs }: Costs): Round => ({
  ours: median(ours),
  theirs: median(theirs),
  ratio: median(ours) / median(theirs),
})

const costOf = async ({ service, load }: Measured, { requests }: Shape): Promise<number> => {
  const before = busyNanosecondsOf(service.processId)
  await load.ask(requests)
  await Bun.sleep(settleMs)
  return busyMicrosecondsBetween(before, busyNanosecondsOf(service.processId)) / requests
}

const rowOf = ({ name }: Shape, rounds: readonly Round[]): string[] => {
  const ratios = rounds.map(({ ratio }) => ratio).toSorted((a, b) => a - b)
  const [low, high] = medianInterval(ratios)
  return [
    name,
    median(rounds.map(({ ours }) => ours)).toFixed(1),
    median(rounds.map(({ theirs }) => theirs)).toFixed(1),
    median(ratios).toFixed(3),
    `${low.toFixed(3)} and ${high.toFixed(3)}`,
    `${percentile(ratios, 25).toFixed(3)} to ${percentile(ratios, 75).toFixed(3)}`,
    `${percentile(ratios, 0).toFixed(3)} to ${percentile(ratios, 100).toFixed(3)}`,
  ]
}

/** Between these two of the sorted values lies the true median, 95 times in a hundred (a sign test turned round). */
const medianInterval = (sorted: readonly number[]): readonly [number, number] => {
  const { length } = sorted
  const from = Math.max(0, Math.floor((length - 1.96 * Math.sqrt(length)) / 2))
  return [sorted[from] ?? Number.NaN, sorted[length - 1 - from] ?? Number.NaN]
}
