import { expect, test } from 'bun:test'
import type { By } from '../../src/domain/events.ts'
import { textOf } from '../../views/log/sentence-parts.ts'
import { type StatusThen, statusCause } from '../../views/log/status-cause.ts'

const at = Date.parse('2026-03-01T12:00:07.042Z')
const expiresAt = at + 86_400_000
const cli: By = { kind: 'cli' }
const linked: By = {
  kind: 'operator',
  email: 'ada@example.org',
  session: { id: 'a91c77f0', linkMadeBy: 'bo@example.org' },
}
const decided = (by: By, reason = '') => ({ decidedBy: { at, by, reason } })

test.each<[StatusThen, string]>([
  [
    { status: 'active', expiresAt: null, ...decided(cli) },
    'since 2026-03-01 12:00:07.042 UTC by the command line; no expiry',
  ],
  [
    { status: 'active', expiresAt, ...decided(cli, 'found') },
    'since 2026-03-01 12:00:07.042 UTC by the command line; expiry 2026-03-02 12:00:07.042 UTC',
  ],
  [
    { status: 'suspended', expiresAt: null, ...decided(linked, 'left on\na bus') },
    'since 2026-03-01 12:00:07.042 UTC by ada@example.org (password set with a one-time link from bo@example.org): “left on a bus”',
  ],
  [
    { status: 'revoked', expiresAt: null, ...decided({ kind: 'system' }) },
    'since 2026-03-01 12:00:07.042 UTC by the service itself',
  ],
  [
    { status: 'expired', expiresAt, ...decided({ kind: 'key', keyId: '7Qp2mZ4k' }) },
    'since 2026-03-02 12:00:07.042 UTC; this expiry was set 2026-03-01 12:00:07.042 UTC by clr_7Qp2mZ4k_…',
  ],
  [
    { status: null, expiresAt: null, ...decided(cli) },
    'not created yet: created 2026-03-01 12:00:07.042 UTC by the command line',
  ],
  [{ status: null, expiresAt: null, decidedBy: null }, 'there is no such key'],
])('statusCause() says since when, by whom and why: %#', (then, words) => {
  expect(textOf(statusCause(then))).toBe(words)
})
