import { connectionIdleSecondsMax } from '../limits.ts'

/** What the server is started with, in a test as in earnest (`serve.ts` adds the address). */
export const serverOptions = {
  /**
   * No bound of the server's own: it would answer a longer body by itself, without a body, before the key is asked for.
   * Every route bounds what it reads (`bounded-body.ts`); what nobody reads is discarded as it comes, not kept.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: connectionIdleSecondsMax,
  /** Otherwise a second service on the same port starts without a word, and the two share the devices between them. */
  reusePort: false,
  /** Otherwise an error's page shows source code. */
  development: false,
} as const
