import type { Asker, Core } from '../../actors/core.ts'
import { newTally, runDevices } from './simulated-devices.ts'

export type DemoOptions = {
  readonly core: Core
  /** Where the service listens, as this machine reaches it. */
  readonly url: string
}

export type Demo = {
  /** Resolves when the last post under way has been answered. */
  stop(): Promise<void>
}

const cellar = 'demo-cellar'
const label = 'Demo devices'

/**
 * Lets simulated devices post to this very service. The text of a key exists only once, so each start makes a key of its
 * own, kept in memory only, and revokes the one of the start before.
 * @throws Error if the store refuses.
 */
export const startDemo = async ({ core, url }: DemoOptions): Promise<Demo> => {
  const asker: Asker = { by: { kind: 'system' }, requestId: core.entropy.uuid() }
  if (core.projections.cellars.get(cellar) === null) {
    await core.cellars.create({ cellar, title: 'Demo cellar' }, asker)
  }
  for (const old of core.projections.keys.ofCellar(cellar)) {
    if (old.created.by.kind !== 'system' || old.revoked !== null) continue
    await core.keys.revoke(old.keyId, 'The demo was started again, with a new key', asker)
  }
  const note = 'Made by "serve --demo". Its devices are simulated; the next start of the demo revokes it.'
  const created = await core.keys.create({ cellar, label, note, limit: null, expiresAt: null }, asker)
  if (!created.ok) throw new Error(`Cannot start the demo: its key was refused (${created.refusal.kind})`)

  const stop = new AbortController()
  const devices = runDevices(
    {
      url,
      key: created.value.key,
      cellar,
      devices: 4,
      ratePerSecond: 4,
      batch: 1,
      stop: stop.signal,
      trustAnyCertificate: true,
      random: Math.random,
      now: () => core.clock.now(),
    },
    newTally(),
  )
  return {
    stop: () => {
      stop.abort()
      return devices
    },
  }
}
