import { expect, test } from 'bun:test'
import { nodeLines } from '../../src/facts/node-lines.ts'

test('nodeLines() names a certificate from the instant on at which the service warns of it', () => {
  const facts = {
    watch: { diskFullInSeconds: null, lastBackup: null },
    check: () => null,
    startedMs: 0,
    servedCertificate: () => ({ endsAtMs: 3_000, warnsAtMs: 2_000 }),
  }
  expect(nodeLines(facts, 1_999)).toEqual([])
  expect(nodeLines(facts, 2_000)).toEqual([{ kind: 'certificate_ends', sinceMs: 2_000, dueMs: 3_000 }])
})
