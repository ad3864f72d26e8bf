import { dateText, dayMs, isoText } from '../parts/time-words.ts'
import type { ChartSeries } from './keg-types.ts'

export type Tick = { readonly at: number; readonly text: string }

export type ValueScale = {
  readonly low: number
  readonly high: number
  /** Of a mean that is shown. */
  readonly decimals: number
  /** Lowest first. */
  readonly ticks: readonly Tick[]
}

const spacesMax = 5
/** Values that differ by no more than this share are drawn as equal ones: computing with fractions makes such differences. */
const noise = 1e-9
/** Nearer to zero, numbers have fewer digits. */
const smallest = 1e-300

/** Ends at round numbers around all values. */
export const valueScale = (series: readonly ChartSeries[]): ValueScale => {
  const points = series.flatMap((one) => one.points)
  const low = points.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY)
  const high = points.reduce((most, { max }) => Math.max(most, max), Number.NEGATIVE_INFINITY)
  if (low > high) return roundScale(0, 1)
  return high - low <= Math.max(Math.abs(low) * noise, Math.abs(high) * noise, smallest)
    ? roundScale(inRange(low - aroundOne(low)), inRange(high + aroundOne(high)))
    : roundScale(low, high)
}

/** Half of a space above and below a line without a change. */
const aroundOne = (value: number): number => (Math.abs(value) > smallest ? Math.abs(value) / 10 : 1)

const roundScale = (low: number, high: number): ValueScale => {
  // Divided first, because the difference of two very large numbers can be infinite.
  const step = roundStep(high / spacesMax - low / spacesMax)
  const first = Math.floor(low / step)
  const spaces = Math.ceil(high / step) - first
  // Very large numbers that differ little have no round numbers between them, and very small ones have no step.
  if (!(spaces > 0 && spaces <= spacesMax + 2) || first + 1 === first)
    return { low, high, decimals: 20, ticks: [low, high].map((at) => ({ at, text: shortText(at) })) }
  const decimals = Math.max(0, Math.min(20, -Math.floor(Math.log10(step) + 1e-9)))
  const ticks = Array.from({ length: spaces + 1 }, (_, number) => inRange((first + number) * step))
  return {
    low: inRange(first * step),
    high: inRange((first + spaces) * step),
    decimals: Math.min(20, decimals + 2),
    ticks: ticks.map((at) => ({ at, text: valueText(at, decimals) })),
  }
}

const inRange = (value: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)) + 0

/** 1, 2 or 5 times a power of 10, not less than `least`. */
const roundStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * ([1, 2, 5].find((times) => times * power >= least * (1 - 1e-9)) ?? 10)
}

const shortMax = 1e9
const shortMin = 1e-6

/** Like `12.40`, `6,000` or `1.2e+12`. */
export const valueText = (value: number, decimals: number): string =>
  value === 0 || (Math.abs(value) < shortMax && decimals <= 6)
    ? new Intl.NumberFormat('en', {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
        // No minus before a zero.
        signDisplay: 'negative',
      }).format(value)
    : shortText(value)

const shortText = (value: number): string => {
  const isPlain = value === 0 || (Math.abs(value) < shortMax && Math.abs(value) >= shortMin)
  const rounded = Number(value.toPrecision(isPlain ? 7 : 4))
  // The largest numbers would be rounded to infinity.
  return String(Number.isFinite(rounded) ? rounded : value)
}

/** From 0 at the low end to 1 at the high end. */
export const shareOf = (value: number, { low, high }: Pick<ValueScale, 'low' | 'high'>): number =>
  // Halved, because the difference of two very large numbers can be infinite.
  high === low ? 0.5 : (value / 2 - low / 2) / (high / 2 - low / 2)

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((many) => many * second),
  ...[1, 2, 5, 10, 15, 30].map((many) => many * minute),
  ...[1, 2, 3, 4, 6, 12].map((many) => many * hour),
  ...[1, 2, 5, 7, 14].map((many) => many * dayMs),
]

const timeSpacesMax = 7

/** Round times in UTC. The first one, and the first of each day, names the day. */
export const timeTicks = (fromMs: number, toMs: number): readonly Tick[] => {
  const stepMs = timeSteps.find((step) => (toMs - fromMs) / step <= timeSpacesMax)
  if (stepMs === undefined) return monthTicks(fromMs, toMs)
  const first = Math.ceil(fromMs / stepMs)
  const times = Array.from({ length: Math.floor(toMs / stepMs) - first + 1 }, (_, number) => (first + number) * stepMs)
  return times.map((at, number) => ({ at, text: timeText(at, times[number - 1], stepMs) }))
}

const timeText = (at: number, before: number | undefined, stepMs: number): string => {
  if (stepMs >= dayMs) return dayText(at)
  const clock = isoText(at).slice(11, stepMs < minute ? 19 : 16)
  const isSameDay = before !== undefined && dateText(before) === dateText(at)
  return isSameDay ? clock : `${dayText(at)} ${clock}`
}

const monthTicks = (fromMs: number, toMs: number): readonly Tick[] => {
  const months: number[] = []
  for (let at = monthOf(fromMs, 1); at <= toMs; at = monthOf(at, 1)) months.push(at)
  const every = [1, 2, 3, 6, 12, 24, 60, 120].find((many) => months.length / many <= timeSpacesMax) ?? 120
  const shown = months.filter((at) => (yearOf(at) * 12 + monthNumber(at)) % every === 0)
  return shown.map((at, number) => {
    const name = monthNames[monthNumber(at)] ?? ''
    return { at, text: number === 0 || monthNumber(at) === 0 ? `${name} ${yearOf(at)}` : name }
  })
}

const yearOf = (at: number): number => Number(isoText(at).slice(0, 4))
/** From 0. */
const monthNumber = (at: number): number => Number(isoText(at).slice(5, 7)) - 1

/** The beginning of the month that is `later` months after the month of `at`. */
const monthOf = (at: number, later: number): number => {
  const month = yearOf(at) * 12 + monthNumber(at) + later
  const [year, number] = [Math.floor(month / 12), (month % 12) + 1]
  return new Date(`${String(year).padStart(4, '0')}-${String(number).padStart(2, '0')}-01T00:00:00Z`).getTime()
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Like `22 Nov`. */
const dayText = (at: number): string => `${Number(isoText(at).slice(8, 10))} ${monthNames[monthNumber(at)]}`

const lengthUnits = [
  [dayMs, 'd'],
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
] as const

/** Like `2 h`, `3 h 10 min`, `4 d 2 h` or `40 s`: the two largest units. */
export const aboutText = (ms: number): string => {
  const at = lengthUnits.findIndex(([unitMs]) => ms >= unitMs)
  const [large, small] = [lengthUnits[at], lengthUnits[at + 1]]
  if (large === undefined) return `${Math.round(ms)} ms`
  const [unitMs, unit] = large
  if (small === undefined) return `${Math.round(ms / unitMs)} ${unit}`
  const rest = Math.round((ms % unitMs) / small[0])
  const whole = Math.floor(ms / unitMs)
  if (rest * small[0] >= unitMs) return aboutText((whole + 1) * unitMs)
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${small[1]}`
}
