import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitOnThread } from '../../../src/log/sqlite/threaded-commits.ts'
import { keySuspended } from '../sample-events.ts'
import { temporaryFolder } from '../temporary-folder.ts'

test('a commit thread that dies leaves its group unknown, stops the log, and says so', async () => {
  const folder = temporaryFolder()
  const log = openSqliteLog({
    dataDir: folder.path,
    commits: () => commitOnThread(join(folder.path, 'no such folder', 'log.db')),
  })
  await expect(log.append('key-one', 'none', [keySuspended()])).rejects.toMatchObject({ outcome: 'unknown' })
  expect(log.health()).toMatchObject({ ok: false, why: expect.stringContaining('its thread ended') })
  await expect(log.append('key-one', 'none', [keySuspended()])).rejects.toMatchObject({ outcome: 'not_written' })
  await log.close()
  folder.remove()
})

test('a commit thread that dies while nothing is written makes the log unwell before anyone appends', async () => {
  const folder = temporaryFolder()
  const log = openSqliteLog({
    dataDir: folder.path,
    commits: () => commitOnThread(join(folder.path, 'no such folder', 'log.db')),
  })
  while (log.health().ok) await turn()
  expect(log.health()).toMatchObject({ ok: false, why: expect.stringContaining('its thread ended') })
  await expect(log.append('key-one', 'none', [keySuspended()])).rejects.toMatchObject({ outcome: 'not_written' })
  await log.close()
  folder.remove()
})
