import { countOf } from './quantity.ts'

const width = 120
const height = 30
const inset = 3

type Point = { readonly x: number; readonly y: number }

/** Means of equal times, oldest first. `null` is a gap of the line. */
export const Sparkline = (props: { readonly means: readonly (number | null)[] }): JSX.Element => {
  const { means } = props
  const values = means.filter((mean) => mean !== null)
  if (values.length === 0) return <span class="quiet">No reading</span>
  // Halved, because the difference of two very large numbers can be infinite.
  const low = Math.min(...values) / 2
  const span = Math.max(...values) / 2 - low
  const points = means.map((mean, index) =>
    mean === null
      ? null
      : {
          x: inset + (index * (width - 2 * inset)) / Math.max(1, means.length - 1),
          y: span === 0 ? height / 2 : height - inset - ((mean / 2 - low) / span) * (height - 2 * inset),
        },
  )
  const last = points.findLast((point) => point !== null)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={described(means, values)}
      focusable="false"
    >
      <path d={lineOf(points)} fill="none" />
      {last === undefined ? null : <circle cx={last.x.toFixed(1)} cy={last.y.toFixed(1)} r="2.5" />}
    </svg>
  )
}

/** A point between two gaps is a line without a length, which is drawn as a dot. */
const lineOf = (points: readonly (Point | null)[]): string => {
  let path = ''
  for (const [index, point] of points.entries()) {
    if (point === null) continue
    const place = `${point.x.toFixed(1)} ${point.y.toFixed(1)}`
    const isAlone = (points[index - 1] ?? null) === null
    path += isAlone ? `M${place}` : `L${place}`
    if (isAlone && (points[index + 1] ?? null) === null) path += 'h0'
  }
  return path
}

const described = (means: readonly (number | null)[], values: readonly number[]): string => {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => String(Number(value.toPrecision(5))))
  const silent = means.length - values.length
  const gaps = silent === 0 ? '' : `, without readings in ${countOf(silent, 'half hour', 'half hours')}`
  return `Last 24 hours: from ${low} to ${high}${gaps}`
}
