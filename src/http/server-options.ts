import { connectionIdleSecondsMax } from './http-bounds.ts'

/** TLS 1.2 uses only ciphers with forward secrecy: a private key that is stolen later cannot decrypt recorded traffic. */
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
   * There is no bound here, because Bun would refuse a long body before the API key is checked. `read-body.ts` bounds bodies
   * instead. Bun keeps about 1 MB of a body that no route reads.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /**
   * Bun restarts this timer only for bodies above 16 KB per second. For slower bodies, `unfinished-bodies.ts` restarts it and
   * gives them up after a shorter time.
   */
  idleTimeout: connectionIdleSecondsMax,
  /** With `true`, a second service could listen on the same port. Devices would then reach one of the two by chance. */
  reusePort: false,
  /** With `true`, error pages would show source code to every client. */
  development: false,
} as const
