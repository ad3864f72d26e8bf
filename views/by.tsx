import type { By } from '../src/domain/events.ts'

/** Who did it. */
export const ByWhom = (props: { readonly by: By }): JSX.Element => {
  const { by } = props
  switch (by.kind) {
    case 'operator':
      return <bdi safe>{by.email}</bdi>
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

const unknownBy = (by: never): never => {
  throw new Error(`Cannot show who did it: ${JSON.stringify(by)}`)
}
