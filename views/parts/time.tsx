import { clockText, dateText, exactClockText, exactText, isoText, relativeText } from './time-words.ts'

/** An instant to the second; the exact one is in the title. */
export const Instant = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span> <span safe>{`${clockText(props.at)} UTC`}</span>
  </time>
)

/** Its day, where the hour matters to nobody; the exact instant is in the title. */
export const Day = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span>
  </time>
)

/** An instant to the millisecond, for who compares two. */
export const ExactInstant = (props: { readonly at: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)}>
    <span safe>{dateText(props.at)}</span> <span safe>{exactClockText(props.at)}</span>
  </time>
)

/** How long ago or until; a script keeps it current (`data-relative`). */
export const Ago = (props: { readonly at: number; readonly nowMs: number }): JSX.Element => (
  <time datetime={isoText(props.at)} title={exactText(props.at)} data-relative safe>
    {relativeText(props.at, props.nowMs)}
  </time>
)

/** `never` where there is no instant. */
export const AgoOrNever = (props: { readonly at: number | null; readonly nowMs: number }): JSX.Element =>
  props.at === null ? <span class="quiet">never</span> : <Ago at={props.at} nowMs={props.nowMs} />
