import { Fact } from '../parts/fact.tsx'
import { Name } from '../parts/name.tsx'
import { Instant } from '../parts/time.tsx'
import { durationText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { KeyView, PredecessorView, SuccessorView } from '../types.ts'

export const RotationFacts = (props: { readonly apiKey: KeyView; readonly nowMs: number }): JSX.Element => {
  const { successor, predecessor } = props.apiKey
  return (
    <>
      {successor === null ? null : (
        <Fact term="Rotated to">
          <KeyLink keyId={successor.keyId} label={successor.label} />
          <span class="under">
            <SuccessorWords apiKey={props.apiKey} successor={successor} nowMs={props.nowMs} />
          </span>
        </Fact>
      )}
      {predecessor === null ? null : (
        <Fact term="Rotated from">
          <KeyLink keyId={predecessor.keyId} label={predecessor.label} />
          <span class="under">
            <PredecessorWords predecessor={predecessor} nowMs={props.nowMs} />
          </span>
        </Fact>
      )}
    </>
  )
}

/** Both keys of a rotation have the same label, so the id is shown too. */
export const KeyLink = (props: { readonly keyId: string; readonly label: string | null }): JSX.Element => (
  <>
    {props.label === null ? null : (
      <>
        <a href={paths.key(props.keyId)}>
          <Name text={props.label} />
        </a>{' '}
      </>
    )}
    <KeyId keyId={props.keyId} />
  </>
)

export const KeyId = (props: { readonly keyId: string }): JSX.Element => <code safe>{knownPart(props.keyId)}</code>

export const KeyPageLink = (props: { readonly keyId: string }): JSX.Element => (
  <a href={paths.key(props.keyId)}>
    <KeyId keyId={props.keyId} />
  </a>
)

const knownPart = (keyId: string): string => `clr_${keyId}_…`

const SuccessorWords = (props: {
  readonly apiKey: KeyView
  readonly successor: SuccessorView
  readonly nowMs: number
}): JSX.Element => {
  const { usedAt, isEnding, label } = props.successor
  const { expiresAt, status } = props.apiKey
  if (label === null) return <>the rotation failed: the new key was not created</>
  if (usedAt === null) {
    return status === 'active' || status === 'suspended' ? (
      <span safe>{pendingText(props.successor, expiresAt)}</span>
    ) : (
      <>not used yet</>
    )
  }
  if (!isEnding || expiresAt === null || status === 'revoked') {
    return (
      <>
        in use since <Instant at={usedAt} />
      </>
    )
  }
  return (
    <>
      in use since <Instant at={usedAt} />; this key {expiresAt > props.nowMs ? 'stops' : 'stopped'}{' '}
      <Instant at={expiresAt} />
    </>
  )
}

const PredecessorWords = (props: { readonly predecessor: PredecessorView; readonly nowMs: number }): JSX.Element => {
  const { rotation, status, expiresAt } = props.predecessor
  if (status === 'revoked') return <>revoked</>
  if (rotation === null) return <>rotated again: a different key replaces the old key now</>
  if (expiresAt !== null && expiresAt <= props.nowMs) {
    return (
      <>
        stopped <Instant at={expiresAt} />
      </>
    )
  }
  if (rotation.usedAt === null) return <span safe>{oldKeyStopsText(rotation)}</span>
  if (!rotation.isEnding || expiresAt === null) return <>an admin changed the expiry of the old key</>
  return (
    <>
      stops <Instant at={expiresAt} />
    </>
  )
}

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

/** On the page of the old key, while the new key is unused. */
const pendingText = ({ keyId, awaitedId, overlapMs }: SuccessorView, expiresAt: number | null): string => {
  if (awaitedId === keyId) return `not used yet; this key ${stopsText(overlapMs, 'the new key')}`
  if (awaitedId === null) return `revoked before its first use, so this key ${keepsWorkingText(expiresAt)}`
  return `revoked before its first use; this key ${stopsText(overlapMs, knownPart(awaitedId))}`
}

/** On the page of the new key, while it is unused. */
const oldKeyStopsText = ({ keyId, awaitedId, overlapMs }: SuccessorView): string => {
  if (awaitedId === keyId) return stopsText(overlapMs, 'this key')
  if (awaitedId === null) return 'keeps working: this key was revoked before its first use'
  return stopsText(overlapMs, knownPart(awaitedId))
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
