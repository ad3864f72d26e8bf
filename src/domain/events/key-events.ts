import { duration, event, hash, id, instant, Limit, orNull, text } from './declare-event.ts'

const people = ['operator', 'cli'] as const
const reason = text('Why, as the person typed it; can be blank.')

export const keyEvents = {
  KeyCreated: event({ in: ['key'], by: [...people, 'system'] }, 'An API key was created.', {
    keyId: id('The id of the key.'),
    cellar: text('The identifier of the cellar whose readings the key can send.'),
    label: text('The name that people see.'),
    note: text('What people noted; can be blank.'),
    secretHash: hash('SHA-256 of the secret of the key, 64 lower-case hex digits.'),
    limit: orNull(Limit, 'the limit of the cellar'),
    expiresAt: orNull(instant('When the key expires.'), 'never'),
    predecessorId: orNull(id('The id of the old key, which this key replaces.'), 'it replaces none'),
  }),
  KeyRelabelled: event(
    { in: ['key'], by: people, comparesState: true },
    'The label or the note of the key was changed.',
    { label: text('The label from now on.'), note: text('The note from now on.') },
  ),
  KeyLimitChanged: event(
    { in: ['key'], by: people, comparesState: true, mayTakeAway: true },
    'The rate limit of the key was changed.',
    { limit: orNull(Limit, 'the limit of the cellar') },
  ),
  KeyExpirySet: event(
    { in: ['key'], by: people, comparesState: true, mayTakeAway: true },
    'The expiry of the key was set or removed.',
    { expiresAt: orNull(instant('When the key expires.'), 'never') },
  ),
  KeyRotated: event({ in: ['key'], by: people }, 'The key was rotated: a new key replaces it.', {
    successorId: id('The id of the new key.'),
    overlapMs: duration('How long the old key still works after the first use of the new key.'),
  }),
  KeySuperseded: event(
    { in: ['key'], by: ['system'], mayTakeAway: true },
    'The new key of a rotation (the successor) was used for the first time. So the old key got its expiry.',
    {
      successorId: id('The id of the new key.'),
      usedAt: instant('When the new key was first used.'),
      expiresAt: instant('When the old key expires: never later than before.'),
    },
  ),
  KeySuspended: event({ in: ['key'], by: [...people, 'system'], mayTakeAway: true }, 'The key was suspended.', {
    reason,
  }),
  KeyResumed: event({ in: ['key'], by: people }, 'The key works again.', { reason }),
  KeyExpired: event(
    { in: ['key'], by: ['system'] },
    'A node noticed that the key has expired. The key stopped at its expiry, even without this event.',
    { expiresAt: instant('When the key expired.') },
  ),
  KeyRevoked: event({ in: ['key'], by: people }, 'The key was revoked for ever.', {
    reason,
    sealId: id('The id of the `ReadingsSealed` event. It was appended first and stopped the readings of the key.'),
  }),
} as const
