import { attribute } from '../../parts/name.tsx'
import { countOf, countText } from '../../parts/quantity.ts'
import { clockText, dateText, durationWords } from '../../parts/time-words.ts'
import type { Bar, BarsView } from '../log-types.ts'

const height = 60
const barWidth = 10

/**
 * The drawing is for the mouse: its links are no stops of the Tab key, because there are up to 60. The table below has the
 * same counts and links.
 */
export const LogBars = (props: { readonly view: BarsView }): JSX.Element => {
  const { view } = props
  return (
    <section class="card log-bars" aria-labelledby="bars-title">
      <h2 id="bars-title" class="visually-hidden">
        Readings over time
      </h2>
      <BarsFigure view={view} />
      <details>
        <summary>The same as a table</summary>
        <CountsTable view={view} />
      </details>
    </section>
  )
}

/** A live update replaces only the figure, so that the table below stays open. */
export const BarsFigure = (props: { readonly view: BarsView }): JSX.Element => {
  const { bars, barMs, isChosen } = props.view
  const most = Math.max(1, ...bars.map(({ accepted, refused }) => accepted + refused))
  const middle = bars[Math.floor(bars.length / 2)]
  const last = bars.at(-1)
  return (
    <div id="bars-figure">
      <svg class="bars" viewBox={`0 0 ${bars.length * barWidth} ${height}`} preserveAspectRatio="none">
        <title safe>{totalText(bars)}</title>
        {bars.map((bar, at) => (
          <BarLink bar={bar} at={at} most={most} barMs={barMs} />
        ))}
      </svg>
      <div class="bar-times" aria-hidden="true">
        {[bars[0], middle, last].map((bar) => (
          <span safe>{bar === undefined ? '' : timeText(bar.at, bars)}</span>
        ))}
      </div>
      <p class="quiet bar-words">
        <span safe>{`${isChosen ? '' : `${spanText(barMs * bars.length)}. `}Each bar is ${barWords(barMs)}:`}</span>{' '}
        <span class="accepted">accepted</span>, <span class="refused">refused</span>. Choose a bar to go there.
      </p>
    </div>
  )
}

const BarLink = (props: {
  readonly bar: Bar
  readonly at: number
  readonly most: number
  readonly barMs: number
}): JSX.Element => {
  const { bar, at, most } = props
  const accepted = heightOf(bar.accepted, most)
  const refused = Math.min(height - accepted, heightOf(bar.refused, most))
  const x = at * barWidth + 1
  return (
    <a href={attribute(bar.href)} tabindex="-1" aria-label={barText(bar)}>
      <title safe>{barText(bar)}</title>
      <rect class="whole" x={at * barWidth} y="0" width={barWidth} height={height} />
      <rect class="accepted" x={x} y={height - accepted} width={barWidth - 2} height={accepted} />
      <rect class="refused" x={x} y={height - accepted - refused} width={barWidth - 2} height={refused} />
    </a>
  )
}

/** A few readings beside very many still have a bar that can be seen. */
const heightOf = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(2, Math.round((count / most) * (height - 4)))

const CountsTable = (props: { readonly view: BarsView }): JSX.Element => {
  const counted = props.view.bars.filter(({ accepted, refused }) => accepted + refused > 0).toReversed()
  if (counted.length === 0) return <p class="quiet">No reading was accepted or refused in this time.</p>
  return (
    <table class="counts">
      <thead>
        <tr>
          <th scope="col">From (UTC)</th>
          <th scope="col" class="number">
            Accepted
          </th>
          <th scope="col" class="number">
            Refused
          </th>
        </tr>
      </thead>
      <tbody>
        {counted.map((bar) => (
          <tr>
            <th scope="row">
              <a href={attribute(bar.href)} safe>{`${dateText(bar.at)} ${clockText(bar.at).slice(0, 5)}`}</a>
            </th>
            <td class="number" safe>
              {countText(bar.accepted)}
            </td>
            <td class="number" safe>
              {countText(bar.refused)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const timeText = (at: number, bars: readonly Bar[]): string => {
  const isOneDay = dateText(bars[0]?.at ?? at) === dateText(bars.at(-1)?.at ?? at)
  const clock = clockText(at).slice(0, 5)
  return isOneDay ? clock : `${dateText(at).slice(5)} ${clock}`
}

const barText = ({ at, accepted, refused }: Bar): string =>
  `${dateText(at)} ${clockText(at).slice(0, 5)} UTC: ${countText(accepted)} accepted, ${countText(refused)} refused`

const totalText = (bars: readonly Bar[]): string => {
  const sum = (of: (bar: Bar) => number): number => bars.reduce((total, bar) => total + of(bar), 0)
  return `${countOf(
    sum(({ accepted }) => accepted),
    'reading',
    'readings',
  )} accepted, ${countText(sum(({ refused }) => refused))} refused`
}

const barWords = (ms: number): string => {
  if (ms === 60_000) return 'a minute'
  return ms === 3_600_000 ? 'an hour' : durationWords(ms)
}

const spanText = (ms: number): string => (ms <= 2 * 3_600_000 ? 'The last hour' : 'The last 24 hours')
