import type { AttentionLine } from '../../domain/attention/attention-lines.ts'

export type WebhookMaster = {
  /** Nodes with equal ids have equal masters. Tells nothing of the master. */
  readonly id: string
  secretOf(webhookId: string): string
}

/** `why`: a sentence. */
export type OpenedMaster = WebhookMaster | { readonly why: string }

export type Sending = {
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
  readonly master: (how: { readonly mayMake: boolean }) => OpenedMaster
  /** Ends within `attemptMsMax`. Rejects only for a bug. */
  readonly send: (sending: Sending) => Promise<Sent>
  /** Says what needs attention, without a full stop. */
  readonly wordsOf: (line: AttentionLine, keyLabel: string | null) => string
}
