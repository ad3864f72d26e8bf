import { ByWhom } from '../parts/by.tsx'
import { Name } from '../parts/name.tsx'
import { Pill } from '../parts/pill.tsx'
import { Ago, Day, Instant } from '../parts/time.tsx'
import { dayMs } from '../parts/time-words.ts'
import type { KeyView } from '../types.ts'

/** Time enough to switch all devices to another key. */
const soonMs = 14 * dayMs

type Expiring = Pick<KeyView, 'status' | 'expiresAt'>

export const endsSoon = ({ status, expiresAt }: Expiring, nowMs: number): boolean =>
  status !== 'revoked' && expiresAt !== null && expiresAt > nowMs && expiresAt <= nowMs + soonMs

/** With a mark if the end is near, or over. */
export const Expiry = ({ apiKey, nowMs }: { readonly apiKey: Expiring; readonly nowMs: number }): JSX.Element => {
  const { expiresAt } = apiKey
  if (expiresAt === null) return <span class="quiet">Never</span>
  return (
    <>
      {endsSoon(apiKey, nowMs) ? (
        <Pill look="soon">
          <Ago at={expiresAt} nowMs={nowMs} />
        </Pill>
      ) : (
        <Ago at={expiresAt} nowMs={nowMs} />
      )}
      <span class="under quiet">
        <Day at={expiresAt} />
      </span>
    </>
  )
}

/** Since when, by whom and why the key is revoked or suspended. */
export const Stopped = (props: {
  readonly words: string
  readonly attribution: NonNullable<KeyView['revoked']>
}): JSX.Element => {
  const { at, by, reason } = props.attribution
  return (
    <span class="ending">
      <span safe>{props.words}</span> <Instant at={at} />
      <span class="under">
        by <ByWhom by={by} />
      </span>
      {reason === '' ? null : (
        <q>
          <Name text={reason} />
        </q>
      )}
    </span>
  )
}
