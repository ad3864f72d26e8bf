/**
 * The log that the stories of users run on, by one variable. `TEST_ENGINE` not set: the embedded one. `test-server`: the
 * adapter for EventStoreDB, on the tests' own log server. `esdb://…`: the same adapter, on that real server.
 */
import { test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '../../../src/log/event-log.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { startLogServer } from '../log-server/server.ts'
import { openAt } from './event-store-log.ts'

const engine = process.env['TEST_ENGINE'] ?? ''
if (engine !== '' && engine !== 'test-server' && !engine.startsWith('esdb')) {
  throw new Error(`TEST_ENGINE is "${engine}": it must be test-server or esdb://…, or not set for the embedded log`)
}

export const isEmbedded = engine === ''

/** One test log server for all tests of this process, which ends with it: each log has a prefix of its own there. */
const startOwnServer = async (): Promise<string> => (await startLogServer()).url
let ownServer: Promise<string> | null = null

/** The store of stories that need one, whatever the others run on. */
export const storeUrl = async (): Promise<string> => {
  if (engine.startsWith('esdb')) return engine
  ownServer ??= startOwnServer()
  return ownServer
}

const urlOfAll = isEmbedded ? null : await storeUrl()

/** Of this run of the tests alone, since nobody empties a real server. */
const run = crypto.randomUUID()
const prefixOf = (dataDir: string): string => `test${Bun.hash(run + dataDir).toString(36)}-`

/** What a program needs to find the log that belongs to a data folder: nothing, where it lies in the folder. */
export const logEnvironment = (dataDir: string): Readonly<Record<string, string>> =>
  urlOfAll === null ? {} : { EVENTSTORE_URL: urlOfAll, EVENTSTORE_PREFIX: prefixOf(dataDir) }

/** The log that belongs to a data folder. Embedded, it is held until it is closed. */
export const openLogOf = async (dataDir: string): Promise<EventLog> =>
  urlOfAll === null ? openSqliteLog({ dataDir }) : openAt(urlOfAll, prefixOf(dataDir))

/** An empty log, which leaves nothing behind when it is closed. */
export const openFreshLog = async (): Promise<EventLog> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'cellarbook-log-'))
  const log = await openLogOf(dataDir)
  const close = log.close.bind(log)
  log.close = async () => {
    await close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return log
}

/** A story of the embedded log itself, which elsewhere is skipped with the reason in its title. */
export const onEmbedded = (because: string) => (title: string, story: () => Promise<void>, msMax?: number) => {
  if (isEmbedded) test(title, story, msMax)
  else test.skip(`${title} (only on the embedded log: ${because})`, story)
}
