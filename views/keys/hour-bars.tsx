import { countOf, countText } from '../parts/quantity.ts'
import type { KeyDay } from './key-list-types.ts'

const height = 24
const step = 4
/** An hour with few readings is seen, too. */
const leastHeight = 1.5

/** One bar for each hour: what was refused stands above what was accepted. */
export const HourBars = ({ accepted, refused }: Pick<KeyDay, 'accepted' | 'refused'>): JSX.Element => {
  const sums = accepted.map((count, hour) => count + (refused[hour] ?? 0))
  const most = Math.max(...sums)
  if (most === 0) return <span class="quiet">No request</span>
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(leastHeight, (height * count) / most))
  const bar = (hour: number, from: number, to: number): string =>
    from === to ? '' : `M${hour * step + step / 2} ${(height - from).toFixed(1)}V${(height - to).toFixed(1)}`
  const below = accepted.map((count, hour) => Math.min(tall(count), tall(sums[hour] ?? 0) - tall(refused[hour] ?? 0)))
  return (
    <svg
      class="hour-bars"
      viewBox={`0 0 ${step * sums.length} ${height}`}
      width={step * sums.length}
      height={height}
      role="img"
      aria-label={described(sums, refused)}
      focusable="false"
    >
      <path d={below.map((top, hour) => bar(hour, 0, top)).join('')} />
      <path class="refused" d={below.map((from, hour) => bar(hour, from, tall(sums[hour] ?? 0))).join('')} />
    </svg>
  )
}

const described = (sums: readonly number[], refused: readonly number[]): string => {
  const [all, failed] = [sumOf(sums), sumOf(refused)]
  const hours = sums.filter((sum) => sum > 0).length
  return `Last 24 hours: ${countText(all - failed)} accepted, ${countText(failed)} refused, in ${countOf(hours, 'hour', 'hours')}`
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
