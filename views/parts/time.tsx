import { clockText, dateText, exactClockText, exactText, isoText, relativeText } from './time-words.ts'

export const Instant = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span> <span safe>{`${clockText(props.at)} UTC`}</span>
  </time>
)

export const Day = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span>
  </time>
)

export const ExactInstant = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span> <span safe>{exactClockText(props.at)}</span>
  </time>
)

/** `assets/app.js` keeps this text current. */
export const Ago = (props: { readonly at: number; readonly nowMs: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)} data-relative safe>
    {relativeText(props.at, props.nowMs)}
  </time>
)

export const AgoOrNever = (props: { readonly at: number | null; readonly nowMs: number }): JSX.Element =>
  props.at === null ? <span class="quiet">Never</span> : <Ago at={props.at} nowMs={props.nowMs} />
