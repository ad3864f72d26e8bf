import type { Children } from '@kitajs/html'
import { attribute } from './name.tsx'

/** A message from the address `from` replaces the element `target` within this one. */
export const Live = (props: { readonly from: string; readonly target: string; readonly children: Children }) => (
  <div hx-sse:connect={attribute(props.from)} hx-sse:close="end" hx-target={props.target} hx-swap="outerMorph">
    {props.children}
  </div>
)
