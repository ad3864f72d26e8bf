import { connectionIdleSecondsMax } from '../limits.ts'

/** TLS 1.2 with forward secrecy: a certificate's key that is stolen later must not decrypt recorded traffic. */
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
   * `read-body.ts` bounds each body: Bun would refuse a long one before the key is checked. Of a body that nobody reads, Bun
   * takes about a megabyte.
   */
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  /** Bun renews it only after 16 KB for each of its seconds. `unfinished-bodies.ts` renews it for slow bodies. */
  idleTimeout: connectionIdleSecondsMax,
  /** Otherwise two services could share one port and its devices. */
  reusePort: false,
  /** Otherwise error pages show source code. */
  development: false,
} as const
