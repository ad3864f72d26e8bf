import { type SendSettings, type Sent, sendWebhook } from './send-webhook.ts'
import { signedHeaders } from './signature.ts'

export type WebhookMessage = {
  /** As `checkedUrl` returns it. */
  readonly url: string
  readonly secret: string
  /** The same for each attempt. */
  readonly messageId: string
  /** Of this attempt. */
  readonly atMs: number
  readonly body: string
  readonly signal: AbortSignal
}

/** `version` of this program. */
export const signedSender =
  (settings: SendSettings, version: string) =>
  ({ url, body, signal, messageId, atMs, secret }: WebhookMessage): Promise<Sent> => {
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Cellarbook/${version}`,
      ...signedHeaders({ id: messageId, atMs, body, secret }),
    }
    return sendWebhook({ url, headers, body, signal }, settings)
  }
