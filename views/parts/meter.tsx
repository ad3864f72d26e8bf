import type { Limit } from '../../src/domain/events.ts'
import { countText, limitText } from './quantity.ts'

/** The Content-Security-Policy forbids inline styles, so an SVG attribute sets the width. */
export const UsageMeter = (props: { readonly used: number | null; readonly limit: Limit }): JSX.Element => {
  if (props.used === null) {
    return (
      <span class="usage">
        <span class="quiet">Unknown</span>
        <span class="quiet" safe>{`limit ${limitText(props.limit)}`}</span>
      </span>
    )
  }
  const percent = Math.min(100, (100 * props.used) / props.limit.readings)
  const level = percent >= 90 ? 'high' : percent >= 60 ? 'raised' : 'calm'
  return (
    <span class="usage">
      <span>
        <b safe>{countText(props.used)}</b>
        <span class="quiet" safe>{` of ${limitText(props.limit)}`}</span>
      </span>
      <svg class={`meter ${level}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect class="meter-track" width="100" height="4" />
        <rect class="meter-fill" width={percent.toFixed(1)} height="4" />
      </svg>
    </span>
  )
}
