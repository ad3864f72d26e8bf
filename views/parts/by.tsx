import type { By } from '../../src/domain/events.ts'
import { Name } from './name.tsx'

export const ByWhom = (props: { readonly by: By }): JSX.Element => {
  const { by } = props
  switch (by.kind) {
    case 'operator':
      return <Operator by={by} />
    case 'key':
      return (
        <span>
          key <code safe>{by.keyId}</code>
        </span>
      )
    case 'cli':
      return <span>the command line</span>
    case 'system':
      return <span>the service itself</span>
    default:
      return unknownBy(by)
  }
}

/**
 * If somebody else made the one-time link for the password, that person can have opened it. Then they can have acted in
 * the operator's name.
 */
const Operator = (props: { readonly by: Extract<By, { readonly kind: 'operator' }> }): JSX.Element => {
  const { email, session } = props.by
  const linkMadeBy = session?.linkMadeBy ?? null
  if (linkMadeBy === null) return <Name text={email} />
  return (
    <span>
      <Name text={email} />{' '}
      <span class="quiet">
        (password set with a one-time link from <LinkMaker madeBy={linkMadeBy} />)
      </span>
    </span>
  )
}

const LinkMaker = (props: { readonly madeBy: string }): JSX.Element =>
  props.madeBy === 'cli' ? <span>the command line</span> : <Name text={props.madeBy} />

/** Somebody else who created the link can have used it. */
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

const unknownBy = (by: never): never => {
  throw new Error(`Cannot show who did it: ${JSON.stringify(by)}`)
}
