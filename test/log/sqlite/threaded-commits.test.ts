import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { isReady, reasonsOf } from '../../../src/health.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitOnThread } from '../../../src/log/sqlite/threaded-commits.ts'
import { storeWalBytesMax } from '../../../src/log/sqlite/wal-copying.ts'
import { keySuspended } from '../../support/logs/sample-events.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/time/until.ts'

test('a dead commit thread leaves its group unknown and stops the log', async () => {
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

test('an idle commit thread that dies makes the log unhealthy at once', async () => {
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

test('failed WAL copying is retried without a write, and then the log is healthy', async () => {
  const folder = temporaryFolder()
  const thread = new URL('./failing-wal-copies-thread.ts', import.meta.url)
  const log = openSqliteLog({ dataDir: folder.path, commits: (path) => commitOnThread(path, thread) })
  // This event makes the WAL so long that it must be copied, but it still fits into the queue.
  await log.append('key-one', 'none', [keySuspended('x'.repeat(storeWalBytesMax - 1_000))])
  await until(() => !log.health().ok)
  expect(log.health()).toMatchObject({ ok: false, why: expect.stringContaining('disk I/O error') })
  await until(() => log.health().ok)
  await log.close()
  folder.remove()
})

test('a program that holds the WAL back is a warning, and the node stays ready', async () => {
  const folder = temporaryFolder()
  const log = openSqliteLog({ dataDir: folder.path })
  const reader = new Database(join(folder.path, 'log.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM events').values()
  const long = [keySuspended('x'.repeat(storeWalBytesMax - 1_000))]
  const reasons = () => reasonsOf({ log, indexTrouble: () => null, bodyTroubles: () => [] })
  for (let appended = 0; appended < 5; appended += 1) await log.append(`key-${appended}`, 'none', long)
  await until(() => reasons().some(({ kind }) => kind === 'wal_held'))
  expect(isReady(reasons())).toBeTrue()
  reader.close()
  await log.append('key-six', 'none', long)
  await until(() => reasons().length === 0)
  await log.close()
  folder.remove()
})
