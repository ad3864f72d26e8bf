import { connectionIdleSecondsMax } from './http-bounds.ts'

/** The ciphers of TLS 1.2 have forward secrecy: a private key that is stolen later cannot decrypt recorded traffic. */
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

export const serverOptions = {
  /**
   * Bun would refuse a long body before the API key is checked. `read-body.ts` bounds bodies instead. Bun keeps about 1 MB
   * of a body that no route reads.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /** Bun restarts this timer only for bodies above 16 KB per second. For slower ones, `unfinished-bodies.ts` does. */
  idleTimeout: connectionIdleSecondsMax,
  /** With `true`, devices would reach one of two services on the same port by chance. */
  reusePort: false,
  /** With `true`, error pages would show source code to every client. */
  development: false,
} as const
