import { countOf } from '../../parts/quantity.ts'
import { Day } from '../../parts/time.tsx'
import { StatusPill } from '../key-status.tsx'
import { KeyId, KeyPageLink } from '../rotation-state.tsx'
import type { ChainView } from './rotation-types.ts'

/** Each key replaces the one before it. */
export const KeyChain = (props: { readonly chain: ChainView; readonly keyId: string }): JSX.Element => {
  const { keys, earlier, later } = props.chain
  return (
    <nav class="key-chain" aria-label="Rotations of this key, oldest key first">
      <ol>
        {earlier === 0 ? null : <li class="quiet" safe>{`${countOf(earlier, 'earlier key', 'earlier keys')}`}</li>}
        {keys.map(({ keyId, status, createdAt }) => (
          <li aria-current={keyId === props.keyId ? 'true' : undefined}>
            {keyId === props.keyId ? <KeyId keyId={keyId} /> : <KeyPageLink keyId={keyId} />}
            <span class="under">
              <StatusPill status={status} /> since <Day at={createdAt} />
            </span>
          </li>
        ))}
        {later === 0 ? null : <li class="quiet" safe>{`${countOf(later, 'later key', 'later keys')}`}</li>}
      </ol>
    </nav>
  )
}
