import type { Children } from '@kitajs/html'
import { attribute } from './name.tsx'

/** A message from the address `from` replaces the element `target` within this one. */
export const Live = (props: {
  readonly from: string
  readonly target: string
  readonly isPaused?: boolean
  readonly children: Children
}): JSX.Element => (
  <div
    hx-sse:connect={props.isPaused ? undefined : attribute(props.from)}
    hx-sse:close="end"
    hx-target={props.target}
    hx-swap="outerMorph"
  >
    {props.children}
  </div>
)

/** `href` pauses the page, or ends its pause. */
export const LiveSwitch = (props: { readonly isPaused: boolean; readonly href: string }): JSX.Element =>
  props.isPaused ? (
    <>
      <span class="quiet">Paused</span>{' '}
      <a class="action" href={attribute(props.href)}>
        Resume
      </a>
    </>
  ) : (
    <>
      <span class="live-mark only-live">Live</span>
      <span class="live-held only-live" title="Updates wait while the pointer or the focus is in the list.">
        On hold
      </span>
      <span class="live-off only-live">Not live</span>
      <span class="quiet only-static">Reload this page to see what is new.</span>{' '}
      <a class="action only-live" href={attribute(props.href)}>
        Pause
      </a>
    </>
  )
