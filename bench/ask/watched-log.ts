import { readingsCategory } from '../../src/domain/stream-names.ts'
import { paths } from '../../views/paths.ts'
import { median, table } from '../figures.ts'
import { loadWarmUpSeconds, type Posting, pacedLoad, topRate, warmUp } from '../lag.ts'
import type { ExportDownloads, ExportDownloadsResult } from '../load/export-downloads.ts'
import type { LiveViewers, LiveViewersResult } from '../load/live-viewers.ts'
import { type Answers, type StartedLoad, startLoad, type Times } from '../load/load-process.ts'
import { newOperators } from '../load/new-operators.ts'
import type { PacedResult } from '../load/paced-load.ts'
import type { BenchService } from '../servers.ts'
import { busySecondsOf } from '../watch/process-figures.ts'
import type { AskedAbout } from './asked-about.ts'

const viewers = 20
const operatorsOfViewers = 4
const p99TargetMs = 25
/**
 * The viewers and the exports begin this long before the readings. So neither their beginning is measured, nor work that the
 * measurement of the top rate has left.
 */
const settleMs = 5_000
/** Measured before each run, because the speed of a shared machine changes within minutes. */
const topRateSeconds = 3

export type Watching = {
  readonly about: AskedAbout
  readonly shareOfTop: number
  readonly rounds: number
  readonly seconds: number
}

/** Something that runs while readings come. It returns what was seen of it. */
type Beside = { readonly name: string; run(times: Times): Promise<string>; stop(): Promise<void> }

type Run = PacedResult & { readonly serviceCores: number; readonly seen: string }

/**
 * Measures readings while people watch or export the log. The row `nobody` shows what the load generator takes, because it shares the
 * processors.
 */
export const measureWatchedLog = async (service: BenchService, watching: Watching): Promise<void> => {
  const { rounds, seconds, shareOfTop, about } = watching
  const besides = [
    { name: 'nobody', run: async () => '', stop: async () => {} },
    await liveViewers(service, `${viewers} viewers of the live Log page`, () => paths.liveLog()),
    await liveViewers(service, `${viewers} viewers, each with a filter of its own`, (viewer) =>
      viewer % 2 === 0
        ? paths.liveLog({ cellar: about.cellar(viewer) })
        : paths.liveLog({ kind: readingsCategory, key: about.key(viewer) }),
    ),
    await exports(service),
  ]
  const runs = new Map<Beside, Run[]>(besides.map((beside) => [beside, []]))
  const tops: number[] = []
  const { url, cellar, keys } = service
  await warmUp(service)
  for (let round = 0; round < rounds; round += 1) {
    for (const beside of rotated(besides, round)) {
      const top = await topRate(service, topRateSeconds)
      tops.push(top)
      const load = { url, cellar, keys, perSecond: shareOfTop * top, seconds }
      runs.get(beside)?.push(await measure(service, beside, load))
    }
  }
  for (const beside of besides) await beside.stop()
  console.log(
    `\nReadings at ${shareOfTop} of the top rate (${median(tops).toFixed(0)}/s), medians of ${rounds} runs of ${seconds} s. Target: p99 at ${p99TargetMs} ms or below\n`,
  )
  const head = [
    'beside',
    'p50 ms',
    'p99 ms',
    'max ms',
    'p99 of each',
    'cores of the service',
    'of the load',
    'seen last',
  ]
  console.log(table([head, ...[...runs].map(([{ name }, done]) => rowOf(name, done))]))
}

/** So that no row always meets what another row has left. */
const rotated = <T>(all: readonly T[], by: number): readonly T[] => {
  const first = by % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

const measure = async (service: BenchService, beside: Beside, load: Posting): Promise<Run> => {
  const startMs = Date.now()
  const running = beside.run({ startMs, endMs: startMs + settleMs + (loadWarmUpSeconds + load.seconds) * 1_000 })
  await Bun.sleep(settleMs)
  const beganMs = performance.now()
  const before = busySecondsOf(service.processId)
  const result = await pacedLoad(load)
  const busySeconds = busySecondsOf(service.processId) - before
  const serviceCores = (busySeconds * 1_000) / (performance.now() - beganMs)
  return { ...result, serviceCores, seen: await running }
}

const rowOf = (name: string, runs: readonly Run[]): string[] => {
  const of = (figure: (run: Run) => number, digits = 1): string => median(runs.map(figure)).toFixed(digits)
  return [
    name,
    of(({ p50Ms }) => p50Ms),
    of(({ p99Ms }) => p99Ms),
    of(({ maxMs }) => maxMs),
    runs.map(({ p99Ms }) => p99Ms.toFixed(0)).join(', '),
    of(({ serviceCores }) => serviceCores, 2),
    of(({ cores }) => cores, 2),
    runs.at(-1)?.seen ?? '',
  ]
}

const liveViewers = async (
  service: BenchService,
  name: string,
  pathOf: (viewer: number) => string,
): Promise<Beside> => {
  const load: StartedLoad<Times, LiveViewersResult> = await startLoad<LiveViewers, Times, LiveViewersResult>(
    'live-viewers.ts',
    {
      url: service.url,
      links: await newOperators(service, operatorsOfViewers),
      sessions: viewers,
      paths: Array.from({ length: viewers }, (_, viewer) => [pathOf(viewer)]),
    },
  )
  return {
    name,
    run: async (times) => {
      const { openAtEnd, answers, pushesPerSecond } = await load.ask(times)
      return `${openAtEnd} open, ${answersText(answers)}, ${pushesPerSecond.toFixed(1)} pushes/s`
    },
    stop: () => load.stop(),
  }
}

const exports = async (service: BenchService): Promise<Beside> => {
  const formats = ['ndjson', 'csv'] as const
  const load = await startLoad<ExportDownloads, Times, ExportDownloadsResult>('export-downloads.ts', {
    url: service.url,
    links: await newOperators(service, formats.length),
    formats,
  })
  return {
    name: 'two exports of readings, NDJSON and CSV',
    run: async (times) => {
      const { answers, mebibytesPerSecond } = await load.ask(times)
      return `${answersText(answers)}, ${mebibytesPerSecond.toFixed(1)} MiB/s`
    },
    stop: () => load.stop(),
  }
}

const answersText = (answers: Answers): string =>
  Object.entries(answers)
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ')
