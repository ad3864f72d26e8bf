import { Fact } from '../parts/fact.tsx'
import { Name } from '../parts/name.tsx'
import { durationText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { KeyView, SuccessorView } from '../types.ts'

/** What no card says. */
export const RotationFacts = ({ apiKey: { successor, predecessor } }: { readonly apiKey: KeyView }): JSX.Element => (
  <>
    {successor?.label === null ? (
      <Fact term="Rotated to">
        <KeyId keyId={successor.keyId} />
        <span class="under">the rotation failed: the new key was not created</span>
      </Fact>
    ) : null}
    {predecessor?.rotation === null ? (
      <Fact term="Rotated from">
        <KeyPageLink keyId={predecessor.keyId} />
        <span class="under">rotated again: a different key replaces the old key now</span>
      </Fact>
    ) : null}
  </>
)

/** Both keys of a rotation have the same label, so the id is shown too. */
export const KeyLink = (props: { readonly keyId: string; readonly label: string }): JSX.Element => (
  <span>
    <a href={paths.key(props.keyId)}>
      <Name text={props.label} />
    </a>{' '}
    <KeyId keyId={props.keyId} />
  </span>
)

export const KeyId = (props: { readonly keyId: string }): JSX.Element => <code safe>{knownPart(props.keyId)}</code>

export const KeyPageLink = (props: { readonly keyId: string }): JSX.Element => (
  <a href={paths.key(props.keyId)}>
    <KeyId keyId={props.keyId} />
  </a>
)

const knownPart = (keyId: string): string => `clr_${keyId}_…`

export const PendingEnd = (props: {
  readonly apiKey: Pick<KeyView, 'successor' | 'status' | 'expiresAt'>
}): JSX.Element => {
  const { successor, status, expiresAt } = props.apiKey
  if (status !== 'active' || successor === null || successor.label === null || successor.usedAt !== null) return ''
  const { keyId, awaitedId, overlapMs } = successor
  const end =
    awaitedId === null
      ? `${knownPart(keyId)} was revoked, so this key ${keepsWorkingText(expiresAt)}`
      : stopsText(overlapMs, knownPart(awaitedId))
  return <span class="under" safe>{`rotated: ${end}`}</span>
}

/** While the new key is unused. */
export const oldKeyEnd = ({ keyId, awaitedId, overlapMs }: SuccessorView, expiresAt: number | null): string => {
  if (awaitedId === null) return `${keepsWorkingText(expiresAt)}: the new key was revoked before its first use`
  return stopsText(overlapMs, awaitedId === keyId ? 'the new key' : knownPart(awaitedId))
}

export const keepsWorkingText = (expiresAt: number | null): string =>
  expiresAt === null ? 'keeps working' : 'keeps working until it expires'

const stopsText = (overlapMs: number, newKey: string): string =>
  overlapMs === 0
    ? `stops at the first reading with ${newKey}`
    : `stops ${durationText(overlapMs)} after the first reading with ${newKey}`
