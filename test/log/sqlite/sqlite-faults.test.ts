import { expect, test } from 'bun:test'
import { isPassing } from '../../../src/log/sqlite/sqlite-faults.ts'

test.each([
  ['SQLITE_FULL', true],
  ['SQLITE_BUSY_RECOVERY', true],
  ['SQLITE_CANTOPEN', true],
  ['SQLITE_IOERR_WRITE', true],
  ['SQLITE_IOERR_SHMSIZE', true],
  ['SQLITE_IOERR_READ', false],
  ['SQLITE_CORRUPT', false],
  ['SQLITE_NOTADB', false],
])('isPassing() says of %s whether the file can be whole: %j', (code, is) => {
  expect(isPassing({ code })).toBe(is)
})
