/**
 * The log can lose its last events, or be an older copy. If they revoked a key, it would be active again. But `ask.db`
 * still knows how far each stream went, so such a key is suspended before the node takes readings.
 */
import { cellarStream, keyStream, operatorStream } from '../../domain/stream-names.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { KeyActor } from '../key/key-actor.ts'
import type { Registry } from '../registry.ts'

/** The last revision of the stream that a file knows, or `null`. */
export type KnownRevision = (stream: string) => number | null

export type LostChanges = {
  readonly keyIds: readonly string[]
  readonly cellars: readonly string[]
  readonly operators: number
}

const reason = 'The log has lost its last events, and this key was changed in them'

/** To be called when the log is folded, and before `known` forgets anything. @throws Outage if a key cannot be suspended */
export const suspendLostKeys = async (
  context: ActorContext,
  actors: Registry<KeyActor>,
  known: KnownRevision,
): Promise<LostChanges | null> => {
  const { keys, cellars, operators } = context.projections
  const isLost = (stream: string): boolean => (known(stream) ?? -1) > (context.projections.lastRevision(stream) ?? -1)
  const lost = {
    keyIds: keys.list().flatMap(({ keyId, revoked }) => (revoked === null && isLost(keyStream(keyId)) ? [keyId] : [])),
    cellars: cellars.list().flatMap(({ cellar }) => (isLost(cellarStream(cellar)) ? [cellar] : [])),
    operators: operators.list().filter(({ email }) => isLost(operatorStream(email))).length,
  }
  for (const keyId of lost.keyIds) {
    const suspended = await actors.get(keyId)?.change({ type: 'SuspendKey', reason }, systemAsker(context))
    if (suspended?.ok !== true) {
      const why = suspended?.refusal.kind ?? 'busy'
      throw new Outage(
        `Cannot suspend the key "${keyId}", whose changes are lost: ${why}`,
        'not_written',
        'unavailable',
      )
    }
  }
  return lost.keyIds.length + lost.cellars.length + lost.operators === 0 ? null : lost
}
