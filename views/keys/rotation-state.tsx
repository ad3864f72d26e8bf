import { Name } from '../parts/name.tsx'
import { Instant } from '../parts/time.tsx'
import { durationText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { KeyView, PredecessorView, SuccessorView } from '../types.ts'

/** How long a rotated key has from then on: `lives on 24 h after its first use`. */
export const livesOnText = (overlapMs: number): string =>
  overlapMs === 0 ? 'ends with its first use' : `lives on ${durationText(overlapMs)} after its first use`

/** Which key follows this one, and which it follows, among the facts of its page. */
export const RotationFacts = (props: { readonly apiKey: KeyView; readonly nowMs: number }): JSX.Element => {
  const { successor, predecessor } = props.apiKey
  return (
    <>
      {successor === null ? null : (
        <div>
          <dt>Followed by</dt>
          <dd>
            <KeyLink keyId={successor.keyId} label={successor.label} />
            <span class="under">
              <SuccessorWords apiKey={props.apiKey} successor={successor} nowMs={props.nowMs} />
            </span>
          </dd>
        </div>
      )}
      {predecessor === null ? null : <FollowsFact predecessor={predecessor} nowMs={props.nowMs} />}
    </>
  )
}

/** Both keys have one label: the id is what tells them apart. */
export const KeyLink = (props: { readonly keyId: string; readonly label: string | null }): JSX.Element => (
  <>
    {props.label === null ? null : (
      <>
        <a href={paths.key(props.keyId)}>
          <Name text={props.label} />
        </a>{' '}
      </>
    )}
    <code safe>{knownPart(props.keyId)}</code>
  </>
)

const knownPart = (keyId: string): string => `clr_${keyId}_…`

const SuccessorWords = (props: {
  readonly apiKey: KeyView
  readonly successor: SuccessorView
  readonly nowMs: number
}): JSX.Element => {
  const { usedAt, isEnding, label } = props.successor
  const { expiresAt, status } = props.apiKey
  if (label === null) return <>the rotation broke off before that key was made</>
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
      in use since <Instant at={usedAt} />; this key {expiresAt > props.nowMs ? 'ends' : 'ended'}{' '}
      <Instant at={expiresAt} />
    </>
  )
}

const FollowsFact = (props: { readonly predecessor: PredecessorView; readonly nowMs: number }): JSX.Element => {
  const { keyId, label } = props.predecessor
  return (
    <div>
      <dt>Follows</dt>
      <dd>
        <KeyLink keyId={keyId} label={label} />
        <span class="under">
          <PredecessorWords {...props} />
        </span>
      </dd>
    </div>
  )
}

const PredecessorWords = (props: { readonly predecessor: PredecessorView; readonly nowMs: number }): JSX.Element => {
  const { rotation, status, expiresAt } = props.predecessor
  if (status === 'revoked') return <>which is revoked</>
  if (rotation === null) return <>which another key follows now</>
  if (expiresAt !== null && expiresAt <= props.nowMs) {
    return (
      <>
        which ended <Instant at={expiresAt} />
      </>
    )
  }
  if (rotation.usedAt === null) return <span safe>{whichEndsText(rotation)}</span>
  if (!rotation.isEnding || expiresAt === null) return <>which an admin has given more time</>
  return (
    <>
      which ends <Instant at={expiresAt} />
    </>
  )
}

/** In a list, below the expiry of a key whose successor is still to be used. */
export const PendingEnd = (props: { readonly apiKey: KeyView }): JSX.Element => {
  const { successor, status, expiresAt } = props.apiKey
  if (status !== 'active' || successor === null || successor.label === null || successor.usedAt !== null) return ''
  const { keyId, awaitedId, overlapMs } = successor
  const end =
    awaitedId === null
      ? `${knownPart(keyId)} is revoked, so ${nothingEndsText(expiresAt)}`
      : endsText(overlapMs, knownPart(awaitedId))
  return <span class="under" safe>{`rotated: ${end}`}</span>
}

/** Below the successor, of the key that it follows. */
const pendingText = ({ keyId, awaitedId, overlapMs }: SuccessorView, expiresAt: number | null): string => {
  if (awaitedId === keyId) return endsText(overlapMs, 'it')
  if (awaitedId === null) return `which is revoked, so ${nothingEndsText(expiresAt)}`
  return `which is revoked; this key ${endsText(overlapMs, knownPart(awaitedId))}`
}

/** Below the key that it follows, of that one. */
const whichEndsText = ({ keyId, awaitedId, overlapMs }: SuccessorView): string => {
  if (awaitedId === keyId) return `which ${endsText(overlapMs, 'this key')}`
  if (awaitedId === null) return 'which this key does not end: it was revoked unused'
  return `which ${endsText(overlapMs, knownPart(awaitedId))}`
}

const nothingEndsText = (expiresAt: number | null): string =>
  expiresAt === null ? 'nothing ends this key' : 'nothing ends this key before it expires'

const endsText = (overlapMs: number, successor: string): string =>
  overlapMs === 0
    ? `ends with the first reading with ${successor}`
    : `ends ${durationText(overlapMs)} after the first reading with ${successor}`
