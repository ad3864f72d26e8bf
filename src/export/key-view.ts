import type { Core } from '../actors/core-interface.ts'
import { instantText } from '../domain/calendar.ts'
import type { KeyState } from '../domain/key.ts'
import { keyStatus } from '../domain/key-refusal.ts'

/** `key` is the whole API key, right after it was made. */
export const keyView = (core: Pick<Core, 'clock' | 'projections'>, state: KeyState, key?: string) => {
  const usage = core.projections.readings.usage(state.keyId)
  return {
    id: state.keyId,
    ...(key === undefined ? {} : { key }),
    cellar: state.cellar,
    label: state.label,
    note: state.note,
    status: keyStatus(state, core.clock.now()),
    limit: core.projections.keys.effectiveLimit(state),
    expiresAt: state.expiresAt === null ? null : instantText(state.expiresAt),
    createdAt: instantText(state.created.at),
    lastUsedAt: usage === null ? null : instantText(usage.lastUsedAt),
    ...(state.predecessorId === null ? {} : { predecessor: state.predecessorId }),
    ...(state.rotation === null ? {} : { successor: state.rotation.successorId }),
  }
}
