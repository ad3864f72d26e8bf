import { connectionIdleSecondsMax } from '../limits.ts'

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
   * `read-body.ts` bounds bodies instead, because Bun would refuse a long one before the key is checked. If no route reads a
   * body, Bun holds about a megabyte of it.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /** Bun restarts this timer only for bodies above 16 KB per second. `unfinished-bodies.ts` restarts it for slower ones. */
  idleTimeout: connectionIdleSecondsMax,
  /** Otherwise two services could listen on one port, and devices would reach either of them. */
  reusePort: false,
  /** Otherwise error pages show source code. */
  development: false,
} as const
