import type { SignInFrom } from '../../src/actors/core-interface.ts'
import type { Role } from '../../src/domain/events.ts'
import { operatorStream } from '../../src/domain/stream-names.ts'
import type { EventLog } from '../../src/log/event-log.ts'

export const testPassword = 'twelve chars and more'

export const emailOf: Readonly<Record<Role, string>> = { admin: 'ada@example.org', auditor: 'otto@example.org' }

export const fromSomewhere: SignInFrom = {
  address: '203.0.113.5',
  browser: 'Firefox 128 on Linux',
  deviceSecret: null,
  sessionSecret: null,
}

/**
 * Appends an admin and an auditor with the password `testPassword`. Its hash has the lowest cost, because a real hash
 * takes half a second.
 */
export const addOperators = async (log: EventLog, nowMs: number): Promise<void> => {
  for (const role of ['admin', 'auditor'] as const) await addOperator(log, nowMs, { email: emailOf[role], role })
}

export const addOperator = async (
  log: EventLog,
  nowMs: number,
  { email, role }: { readonly email: string; readonly role: Role },
): Promise<void> => {
  await log.append(operatorStream(email), 'none', [
    {
      id: crypto.randomUUID(),
      type: 'OperatorAdded',
      recordedAt: nowMs,
      data: { email, role, passwordHash: await cheapHash, linkHash: null, linkMadeBy: null },
      metadata: { by: { kind: 'cli' }, requestId: 'test', correlationId: 'test', causationId: 'test' },
    },
  ])
}

const cheapHash = Bun.password.hash(testPassword, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
