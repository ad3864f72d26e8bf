import { LinkMaker } from '../parts/by.tsx'

/** Who made the one-time link behind a row. If it was somebody else, the line stands out. */
export const LinkMark = (props: { readonly madeBy: string; readonly isOwn: boolean }): JSX.Element =>
  props.isOwn ? (
    <span class="under">your own link</span>
  ) : (
    <span class="under link-mark">
      <span class="mark skew">somebody else’s link</span>{' '}
      <span>
        created by <LinkMaker madeBy={props.madeBy} />
      </span>
    </span>
  )
