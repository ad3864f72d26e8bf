import { narrowTo } from '../stream/narrow-event.ts'

export const keyEvent = narrowTo(
  'KeyCreated',
  'KeyRelabelled',
  'KeyLimitChanged',
  'KeyExpirySet',
  'KeyRotated',
  'KeySuperseded',
  'KeySuspended',
  'KeyResumed',
  'KeyExpired',
  'KeyRevoked',
)
