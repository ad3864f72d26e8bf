import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { Asker } from '../core-interface.ts'

type Expiring = { change(command: { readonly type: 'RecordKeyExpiry' }, asker: Asker): Promise<unknown> }

/** An actor reports its bugs itself, so one is ignored here. Then a sweep tries again. */
export const appendKeyExpired = async (actor: Expiring, context: ActorContext): Promise<void> => {
  try {
    await actor.change({ type: 'RecordKeyExpiry' }, systemAsker(context))
  } catch {}
}
