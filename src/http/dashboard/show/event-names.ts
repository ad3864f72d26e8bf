import { hostOf } from '../../../../views/attention/webhooks/webhook-state.tsx'
import type { Names } from '../../../../views/log/sentence-parts.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { unitIn } from './cellar-views.ts'

/** Just before the event at the position. The e-mail of an operator never changes. Units and webhooks are those of now. */
export const namesAt = (core: Pick<Core, 'projections' | 'webhooks'>, position: number): Names => {
  const { keys, cellars, operators } = core.projections
  return {
    keyLabel: (keyId) => keys.labelAt(keyId, position),
    cellarTitle: (cellar) => cellars.titleAt(cellar, position),
    cellarOfStream: (stream) => cellars.ofStream(stream)?.cellar ?? null,
    emailOfStream: (stream) => operators.emailOf(stream),
    webhookHost: (webhookId) => {
      const webhook = core.webhooks.list().find((one) => one.webhookId === webhookId)
      return webhook === undefined ? null : hostOf(webhook.url)
    },
    unitOf: (cellar, keg) => unitIn(core, cellar, keg),
  }
}
