/** Compares the page of a keg with a computation from the readings that the service exports. */
import { singleReadingsMax } from '../../../src/derived/readings/keg-charts.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { aboutText } from '../../../views/kegs/chart-scale.ts'
import { countOf, countText } from '../../../views/parts/quantity.ts'
import { paths } from '../../../views/paths.ts'
import { expectedChart } from './expected-charts.ts'
import { arrivalsOf, byTime, drawnOf } from './expected-readings.ts'

const [minuteMs, hourMs] = [60_000, 3_600_000]

type Chart = {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly decimals: number
  readonly series: readonly {
    readonly single: boolean
    readonly streams: readonly string[]
    readonly points: readonly (readonly [at: number, mean: number, ...rest: readonly unknown[]])[]
    readonly gaps: readonly (readonly [fromMs: number, toMs: number, text: string])[]
  }[]
}

const plain = (html: string): string => html.replaceAll('&#34;', '"').replaceAll('&amp;', '&')

const factOf = (html: string, term: string): string =>
  plain(new RegExp(`<dt>${term}</dt><dd>(.*?)</dd>`).exec(html)?.[1] ?? '')

const eventsIn = (html: string): readonly string[] =>
  [...html.matchAll(/href="(\/log\/[^"]*)"/g)].map(([, to = '']) => to)

const readings = (count: number): string => countOf(count, 'reading', 'readings')

/** A sum depends on its order. */
const near = (shown: number, wanted: unknown, most = 1e-6): unknown =>
  typeof wanted === 'number' && Math.abs(shown - wanted) < most ? wanted : shown

type Exported = {
  readonly cellar: string
  readonly keg: string
  readonly history: readonly RecordedEvent[]
  /** As asked. `null`: now. */
  readonly toMs: number | null
}

/** What the page of a keg says, and what it must say by the exported readings. */
export const pageAndExport = (html: string, { cellar, keg, history, toMs }: Exported) => {
  const chart: Chart = JSON.parse(plain(/data-chart="([^"]*)"/.exec(html)?.[1] ?? ''))
  const { kept = [], ahead = [], acceptedFrom = 0, accepted } = drawnOf(history)[cellar] ?? {}
  const ofKeg = kept.filter(({ name }) => name === keg).toSorted(byTime)
  const aheadOfKeg = ahead.filter(({ name }) => name === keg)
  const eventOf = (at: number | undefined): string => {
    const { keyId = '', revision = 0 } = ofKeg.find(({ position }) => position === at) ?? {}
    return paths.event(`readings-${keyId}`, revision)
  }
  const expected = expectedChart(ofKeg, aheadOfKeg, {
    ...{ fromMs: chart.from, toMs: chart.to, stepMs: chart.step },
    bucketMs: chart.step < hourMs ? minuteMs : hourMs,
    nowMs: toMs ?? chart.to,
    pauseMs: arrivalsOf(accepted?.get(ofKeg[0]?.keg ?? '')).pause,
  })
  const { count, mean, late, repeats } = expected.summary
  const drawn = ofKeg.filter(({ ms }) => ms >= chart.from && ms < chart.to)
  const points =
    count <= singleReadingsMax
      ? drawn.map(({ ms, value, position }) => [ms, value, eventOf(position)])
      : expected.points.map((point) => [point.timeMs + chart.step / 2, point.mean, point.min, point.max, point.count])
  const [series] = chart.series
  const times = new Set(ofKeg.map(({ ms }) => ms))
  const shown = {
    points: series?.points.map(([time, value, ...rest], index) => [
      ...[time, near(value, points[index]?.[1])],
      ...(series.single ? [`${series.streams[Number(rest[0])]}${rest[1]}`] : rest),
    ]),
    gaps: series?.gaps.map(([fromMs, toMs]) => ({ fromMs, toMs: times.has(toMs) ? toMs : null })),
    count: factOf(html, 'Readings').replace(/<[^>]*>|, about.*/g, ''),
    extremes: eventsIn(factOf(html, 'Lowest, highest')),
    mean: near(Number(factOf(html, 'Mean').replace(/<[^>]*>/g, '')), mean ?? 0, 0.6 * 10 ** -chart.decimals),
    late: /[\d,]+ readings?, up to .* after/.exec(factOf(html, 'Came late'))?.[0],
    repeats: factOf(html, 'Same time twice').replace(/<[^>]*>/g, ''),
    ahead: /[\d,]+ readings?/.exec(factOf(html, 'Clock ahead'))?.[0],
    latest: eventsIn(/<p class="latest">.*?<\/p>/.exec(html)?.[0] ?? ''),
    isOldNamed: html.includes('keeps readings for a limited time'),
  }
  const wanted = {
    points,
    gaps: expected.gaps,
    count: countText(count),
    extremes: [expected.lowest, expected.highest].flatMap((extreme) =>
      extreme === null ? [] : [eventOf(extreme.position)],
    ),
    mean: mean ?? 0,
    late: late.count === 0 ? undefined : `${readings(late.count)}, up to ${aboutText(late.maxMs)} after`,
    repeats: repeats === 0 ? '' : readings(repeats),
    ahead: expected.summary.ahead === 0 ? undefined : readings(expected.summary.ahead),
    latest: [eventOf(ofKeg.at(-1)?.position)],
    isOldNamed: acceptedFrom > 0 && acceptedFrom + hourMs > chart.from,
  }
  return {
    shown,
    wanted,
    counts: { count, late: late.count, repeats, ahead: expected.summary.ahead, gaps: expected.gaps.length },
  }
}
