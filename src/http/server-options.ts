import { connectionIdleSecondsMax } from '../limits.ts'

/**
 * TLS 1.2 with forward secrecy only: a certificate's key that is stolen later must not decrypt recorded traffic. Without this
 * list Bun also takes suites that encrypt with the certificate's key. Bun refuses TLS 1.0 and 1.1 by itself, and this list
 * does not affect TLS 1.3, whose suites all have forward secrecy.
 */
export const tlsOptions = {
  ciphers: [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const

/** What the server is started with, in a test as in earnest (`serve.ts` adds the address). */
export const serverOptions = {
  /**
   * The server has no bound of its own: it would answer a longer body by itself, without a body, before the key is asked for.
   * Every route bounds what it reads (`read-body.ts`). Bun discards the body of a request that was answered. Of an
   * unanswered request whose body nobody reads, Bun takes about a megabyte and then stops.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /** Bun renews this only when 16 KB have come for each second of it; `unfinished-bodies.ts` does so for slow bodies. */
  idleTimeout: connectionIdleSecondsMax,
  /** Otherwise a second service on the same port starts without a word, and the two share the devices between them. */
  reusePort: false,
  /** Otherwise an error's page shows source code. */
  development: false,
} as const
