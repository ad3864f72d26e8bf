import { Instant } from '../parts/time.tsx'
import { durationWords } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { KeyView, PredecessorView } from '../types.ts'
import { KeyPageLink } from './rotation-state.tsx'

/**
 * Shows no command to send a reading: the first reading with the new key decides when the old key stops. With an overlap of
 * 0, one test reading would stop every device that uses the old key.
 */
export const AfterRotation = (props: {
  readonly apiKey: KeyView
  readonly predecessor: PredecessorView
}): JSX.Element => {
  const { apiKey, predecessor } = props
  const { rotation } = predecessor
  if (rotation === null || rotation.awaitedId !== apiKey.keyId) {
    return <EndsNothing predecessor={predecessor} />
  }
  return (
    <>
      <OldKeyEnds predecessor={predecessor} overlapMs={rotation.overlapMs} />
      <NextSteps predecessor={predecessor} overlapMs={rotation.overlapMs} />
    </>
  )
}

type Ending = { readonly predecessor: PredecessorView; readonly overlapMs: number }

const OldKeyEnds = ({ predecessor, overlapMs }: Ending): JSX.Element => {
  const { keyId, status, expiresAt } = predecessor
  return (
    <section class="card warn" aria-labelledby="old-key-title">
      <h2 id="old-key-title">When the old key stops</h2>
      <p>
        {overlapMs === 0 ? (
          <>
            The first reading with the new key <strong>stops the old key at once</strong>.
          </>
        ) : (
          <>
            After the first reading with the new key,{' '}
            <strong safe>{`the old key works for ${durationWords(overlapMs)} more`}</strong>, then stops.
          </>
        )}{' '}
        A test reading counts too. A check does not. Until that first reading, nothing changes.
      </p>
      {expiresAt === null ? null : (
        <p>
          The old key never works past its own expiry, <Instant at={expiresAt} />.
        </p>
      )}
      {status === 'suspended' ? <p>The old key is suspended, so its devices are already refused.</p> : null}
      <p>
        Once the old key, <KeyPageLink keyId={keyId} />, has stopped, devices that still use it get{' '}
        <code>API key has expired</code>.
      </p>
    </section>
  )
}

const NextSteps = ({ predecessor, overlapMs }: Ending): JSX.Element => (
  <section class="card" aria-labelledby="next-title">
    <h2 id="next-title">What to do next</h2>
    <ol class="steps">
      <li>
        Save the new key where your devices will read it. To test it, check a reading: the{' '}
        <a href={paths.devicesGuide}>device guide</a> shows how. Don’t send a test reading: the first reading with the
        new key decides when the old key stops.
      </li>
      {overlapMs === 0 ? (
        <>
          <li>Prepare every device that uses the old key, then switch all of them together.</li>
          <li>
            Too many devices to switch together?{' '}
            <a href={paths.rotateKey(predecessor.keyId)}>Rotate the old key again</a>, and choose a longer time for the
            old key. Give your devices the key from that second rotation, and revoke the key from this first one.
          </li>
        </>
      ) : (
        <>
          <li>
            Switch your devices to the new key, one after another. After the first reading with the new key, you have{' '}
            <span safe>{durationWords(overlapMs)}</span> for the other devices.
          </li>
          <li>
            Before the old key stops, see on <a href={paths.key(predecessor.keyId)}>its page</a> which racks have
            switched. If one still uses the old key, keep that key longer. When all have switched, you can retire it.
          </li>
        </>
      )}
    </ol>
  </section>
)

/** Another admin rotated the old key again, or revoked the new one, before this page was rendered. */
const EndsNothing = ({ predecessor }: { readonly predecessor: PredecessorView }): JSX.Element => (
  <section class="card warn" aria-labelledby="old-key-title">
    <h2 id="old-key-title">This key does not stop the old key</h2>
    <p>
      The old key is <KeyPageLink keyId={predecessor.keyId} />. Another admin has just rotated the old key again, or
      revoked this key. If this key is not revoked and nobody needs it, revoke it.
    </p>
  </section>
)
