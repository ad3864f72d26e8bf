import type { WebhookParts } from '../actors/webhooks/webhook-parts.ts'
import { type SendSettings, sendWebhook } from './send-webhook.ts'
import { signedHeaders } from './signature.ts'

/** `version` of this program. */
export const signedSender =
  (settings: SendSettings, version: string): WebhookParts['send'] =>
  ({ url, body, signal, messageId, atMs, secret }) => {
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Cellarbook/${version}`,
      ...signedHeaders({ id: messageId, atMs, body, secret }),
    }
    return sendWebhook({ url, headers, body, signal }, settings)
  }
