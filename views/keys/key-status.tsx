import type { KeyStatus } from '../../src/domain/key-refusal.ts'
import { Pill } from '../parts/pill.tsx'
import type { KeyView } from '../types.ts'

export const StatusPill = (props: { readonly status: KeyStatus }): JSX.Element => (
  <Pill look={props.status} word={props.status} />
)

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
