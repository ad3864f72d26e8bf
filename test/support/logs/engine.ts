/**
 * The log engine for tests that name no engine, chosen by `TEST_ENGINE`. Unset: the embedded log. `test-server`:
 * EventStoreDB's protocol with the test log server. `esdb://…`: a real server.
 */
import { test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEventStoreUrl } from '../../../src/eventstore-url.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import type { SourceConfig } from '../../../src/log/open-source.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { startLogServer } from '../log-server/server.ts'
import { openAt } from './event-store-log.ts'

const engine = process.env['TEST_ENGINE'] ?? ''
if (engine !== '' && engine !== 'test-server' && !engine.startsWith('esdb')) {
  throw new Error(`TEST_ENGINE is "${engine}": it must be test-server or esdb://…, or not set for the embedded log`)
}

export const isEmbedded = engine === ''

/** One test log server serves all tests of this process. */
const startOwnServer = async (): Promise<string> => (await startLogServer()).url
let ownServer: Promise<string> | null = null

export const storeUrl = async (): Promise<string> => {
  if (engine.startsWith('esdb')) return engine
  ownServer ??= startOwnServer()
  return ownServer
}

const urlOfAll = isEmbedded ? null : await storeUrl()

/** A real server keeps the events of earlier runs, so each run and each folder has its own prefix. */
const run = crypto.randomUUID()
const prefixOf = (dataDir: string): string => `test${Bun.hash(run + dataDir).toString(36)}-`

export const logEnvironment = (dataDir: string): Readonly<Record<string, string>> =>
  urlOfAll === null ? {} : { EVENTSTORE_URL: urlOfAll, EVENTSTORE_PREFIX: prefixOf(dataDir) }

/** Opens the log of a folder. The test must close it: the embedded log locks the folder until then. */
export const openLogOf = async (dataDir: string): Promise<EventLog> =>
  urlOfAll === null ? openSqliteLog({ dataDir }) : openAt(urlOfAll, prefixOf(dataDir))

export const sourceConfigOf = (dataDir: string): SourceConfig => {
  if (urlOfAll === null) return { dataDir, eventStore: null }
  const parsed = parseEventStoreUrl(urlOfAll)
  if ('rule' in parsed) throw new Error(parsed.rule)
  return { dataDir, eventStore: { ...parsed.value, prefix: prefixOf(dataDir) } }
}

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

/** A test that runs on the embedded log only. Elsewhere it is skipped, and its title says why. */
export const onEmbedded = (because: string) => (title: string, story: () => Promise<void>, msMax?: number) => {
  if (isEmbedded) test(title, story, msMax)
  else test.skip(`${title} (only on the embedded log: ${because})`, story)
}
