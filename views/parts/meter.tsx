import type { Limit } from '../../src/domain/events.ts'
import { countText, limitText } from './quantity.ts'

export const UsageMeter = (props: { readonly used: number | null; readonly limit: Limit }): JSX.Element => {
  if (props.used === null) {
    return (
      <span class="usage">
        <span class="quiet">Unknown</span>
        <span class="quiet" safe>{`limit ${limitText(props.limit)}`}</span>
      </span>
    )
  }
  return (
    <span class="usage">
      <span>
        <b safe>{countText(props.used)}</b>
        <span class="quiet" safe>{` of ${limitText(props.limit)}`}</span>
      </span>
      <Meter share={props.used / props.limit.readings} />
    </span>
  )
}

/** The Content-Security-Policy forbids inline styles, so an SVG attribute sets the width. */
export const Meter = (props: { readonly share: number; readonly isGood?: boolean }): JSX.Element => {
  const percent = Math.min(100, 100 * props.share)
  const level = props.isGood ? 'calm' : percent >= 90 ? 'high' : percent >= 60 ? 'raised' : 'calm'
  return (
    <svg class={`meter ${level}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="meter-track" width="100" height="4" />
      <rect class="meter-fill" width={percent.toFixed(1)} height="4" />
    </svg>
  )
}
