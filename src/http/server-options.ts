import { connectionIdleSecondsMax } from '../limits.ts'

/** What the server is started with, in a test as in earnest (`serve.ts` adds the address). */
export const serverOptions = {
  /**
   * The server has no bound of its own: it would answer a longer body by itself, without a body, before the key is asked for.
   * Every route bounds what it reads (`bounded-body.ts`). Bun discards the body of a request that was answered. Of an
   * unanswered request whose body nobody reads, Bun takes about a megabyte and then stops.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /** Bun renews this only when 16 KB have come for each second of it; `bodies-in-flight.ts` does so for slow bodies. */
  idleTimeout: connectionIdleSecondsMax,
  /** Otherwise a second service on the same port starts without a word, and the two share the devices between them. */
  reusePort: false,
  /** Otherwise an error's page shows source code. */
  development: false,
} as const
