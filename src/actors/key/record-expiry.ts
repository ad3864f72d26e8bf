import { systemAsker } from '../asked-by.ts'
import type { Asker } from '../core.ts'
import type { Host } from '../host.ts'

type Expiring = { change(command: { readonly type: 'RecordKeyExpiry' }, asker: Asker): Promise<unknown> }

/** Records that the key has expired. An actor reports its bugs itself, so one is ignored here. Then a sweep tries again. */
export const recordExpiry = async (actor: Expiring, host: Host): Promise<void> => {
  try {
    await actor.change({ type: 'RecordKeyExpiry' }, systemAsker(host))
  } catch {}
}
