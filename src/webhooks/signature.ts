/** Signs as the specification of Standard Webhooks 1.0 says, so receivers can use its libraries. */
import { createHmac } from 'node:crypto'

const secretPrefix = 'whsec_'

export type Signed = { readonly id: string; readonly atMs: number; readonly body: string; readonly secret: string }

export const signedHeaders = ({ id, atMs, body, secret }: Signed): Readonly<Record<string, string>> => {
  const seconds = Math.floor(atMs / 1000)
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}

export const secretFrom = (key: Uint8Array): string => `${secretPrefix}${Buffer.from(key).toString('base64')}`
