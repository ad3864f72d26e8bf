import { readKeyEvents } from '../../../actors/key/key-events.ts'
import type { KeyState } from '../../../domain/key.ts'
import { Outage } from '../../../log/event-log.ts'
import type { DashboardDeps } from '../visit.ts'

/**
 * The unused key that was to follow the old one until `made` took its place. The log says which, since another admin's
 * rotation may have come between the question and the answer, or between two answers. `null`, too, if the log is away
 * by now: the text of the key that was made is shown once, and this is no reason to lose it.
 */
export const replacedBy = async ({ core }: DashboardDeps, made: KeyState): Promise<KeyState | null> => {
  const { keys, readings } = core.projections
  const replacedId = await nextToLastId(core, made).catch(unlessOutage)
  const replaced = replacedId === null ? null : keys.get(replacedId)
  if (replaced === null || replaced.predecessorId !== made.predecessorId) return null
  return replaced.revoked === null && readings.usage(replaced.keyId) === null ? replaced : null
}

const nextToLastId = async (
  core: DashboardDeps['core'],
  { keyId, predecessorId }: KeyState,
): Promise<string | null> => {
  if (predecessorId === null) return null
  let lastId: string | null = null
  for (const { type, data } of await readKeyEvents(core, predecessorId)) {
    if (type !== 'KeyRotated') continue
    if (data.successorId === keyId) return lastId
    lastId = data.successorId
  }
  return null
}

const unlessOutage = (thrown: unknown): null => {
  if (thrown instanceof Outage) return null
  throw thrown
}
