import { countOf } from './quantity.ts'

const width = 120
const height = 30
const inset = 3

/** In the order of acceptance. */
export const Sparkline = (props: { readonly values: readonly number[] }): JSX.Element => {
  const { values } = props
  if (values.length === 0) return ''
  // Halved, because the difference of two very large numbers can be infinite.
  const low = Math.min(...values) / 2
  const span = Math.max(...values) / 2 - low
  const points = values.map((value, index) => ({
    x: values.length === 1 ? width - inset : inset + (index * (width - 2 * inset)) / (values.length - 1),
    y: span === 0 ? height / 2 : height - inset - ((value / 2 - low) / span) * (height - 2 * inset),
  }))
  const last = points[points.length - 1] ?? { x: width - inset, y: height / 2 }
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={described(values)}
      focusable="false"
    >
      <polyline points={points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} fill="none" />
      <circle cx={last.x.toFixed(1)} cy={last.y.toFixed(1)} r="2.5" />
    </svg>
  )
}

const described = (values: readonly number[]): string =>
  `${countOf(values.length, 'value', 'values')} from ${Math.min(...values)} to ${Math.max(...values)}`
