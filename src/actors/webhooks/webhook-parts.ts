import type { AttentionLine } from '../../domain/attention/attention-lines.ts'

export type WebhookMaster = { readonly id: string; secretOf(webhookId: string): string }

export type Sending = {
  readonly url: string
  readonly secret: string
  readonly messageId: string
  readonly atMs: number
  readonly body: string
  readonly signal: AbortSignal
}

export type Sent = {
  /** `null`: no answer came. */
  readonly status: number | null
  /** Its first characters, on one line. */
  readonly answer: string | null
  readonly why: string | null
  readonly tookMs: number
}

/** What the service gives to the actors, which do no I/O themselves. */
export type WebhookParts = {
  readonly node: string
  /** False: the process ends soon, so it sends only tests. */
  readonly sendsWaiting: boolean
  /** Called again from time to time until it gives the one that is needed. `mayMake`: a new one will do. */
  readonly master: (how: { readonly mayMake: boolean }) => WebhookMaster | { readonly why: string }
  /** Ends within `attemptMsMax`. Rejects only for a bug. */
  readonly send: (sending: Sending) => Promise<Sent>
  /** Says what needs attention, without a full stop. */
  readonly wordsOf: (line: AttentionLine, keyLabel: string | null) => string
}
