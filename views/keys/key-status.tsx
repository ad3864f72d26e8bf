import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import type { KeyView } from '../types.ts'

/** A status has a word, a colour and a shape, so that nobody depends on the colour alone. */
export const StatusPill = (props: { readonly status: KeyStatus }): JSX.Element => (
  <span class={`pill ${props.status}`}>
    <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false">
      <path d={shapes[props.status]} />
    </svg>
    {props.status}
  </span>
)

const shapes: Readonly<Record<KeyStatus, string>> = {
  active: 'M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0-10z',
  expired: 'M0 0h10L5 5l5 5H0l5-5z',
  suspended: 'M1 0h3v10H1zM6 0h3v10H6z',
  revoked: 'M1.5 0L5 3.5L8.5 0L10 1.5L6.5 5L10 8.5L8.5 10L5 6.5L1.5 10L0 8.5L3.5 5L0 1.5z',
}

export const statusMeaning = (key: Pick<KeyView, 'status' | 'expiresAt'>, nowMs: number): string =>
  key.status === 'suspended' && key.expiresAt !== null && key.expiresAt <= nowMs
    ? 'Readings with this key are refused with “Invalid API key”. The key has also expired: after you resume it, set a later expiry.'
    : meanings[key.status]

const meanings: Readonly<Record<KeyStatus, string>> = {
  active: 'Readings with this key are accepted.',
  expired: 'Readings with this key are refused with “API key has expired”. To use the key again, set a later expiry.',
  suspended: 'Readings with this key are refused with “Invalid API key” until an admin resumes the key.',
  revoked: 'Readings with this key are refused with “Invalid API key”. A revoked key cannot be used again.',
}
