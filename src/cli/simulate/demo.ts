import { systemAsker } from '../../actors/asked-by.ts'
import type { Core } from '../../actors/core-interface.ts'
import { newTally, runDevices } from './simulated-devices.ts'

export type DemoOptions = {
  readonly core: Core
  readonly url: string
}

export type Demo = {
  /** Resolves after the answer to the last request. */
  stop(): Promise<void>
}

const cellar = 'demo-cellar'
const label = 'Demo devices'

/**
 * Revokes the key of the earlier start, which cannot be used again: only its hash is stored. @throws Error if the new key
 * is refused
 */
export const startDemo = async ({ core, url }: DemoOptions): Promise<Demo> => {
  const asker = systemAsker(core)
  if (core.projections.cellars.get(cellar) === null) {
    await core.cellars.create({ cellar, title: 'Demo cellar' }, asker)
  }
  for (const old of core.projections.keys.ofCellar(cellar)) {
    if (old.created.by.kind !== 'system' || old.revoked !== null) continue
    await core.keys.revoke(old.keyId, 'The demo started again with a new key', asker)
  }
  const note = 'Created by "serve --demo" for simulated devices. The next start of the demo revokes this key.'
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
