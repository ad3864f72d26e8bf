import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { keyStream } from '../src/domain/stream-names.ts'
import { parseEventStoreUrl } from '../src/eventstore-url.ts'
import { storeRetryPauseMsMax } from '../src/limits.ts'
import { type EventLog, Outage } from '../src/log/event-log.ts'
import { openEventStoreLog } from '../src/log/eventstoredb/eventstoredb-log.ts'
import { median, table } from './figures.ts'
import { fillKeyEvents, fillKeys } from './filled-log.ts'
import { benchFolder, end, startOn } from './servers.ts'

const keys = 10_000
const eventsPerKey = 100

/**
 * Measures the time until `/readyz` answers 200, with a million key events in EventStoreDB and an empty folder. For
 * comparison, each round also measures the official client, which only reads the same events.
 */
export const benchEventStoreStart = async (url: string | undefined, rounds: number): Promise<void> => {
  if (url === undefined) throw new Error('Cannot measure: say which server by --url esdb://…')
  const prefix = `bench${Date.now()}-`
  await fill(url, prefix)
  const bare: number[] = []
  const service: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await secondsOf(() => readBare(url, prefix)))
    service.push(await start(url, prefix))
  }
  const ratio = median(service.map((seconds, round) => seconds / (bare[round] ?? Number.NaN)))
  console.log(`\nStart to ready on ${keys * eventsPerKey} key events in EventStoreDB, medians of ${rounds} rounds\n`)
  console.log(
    table([
      ['', 'seconds', '× bare'],
      ['the bare client reads them', median(bare).toFixed(2), '1.00'],
      ['Cellarbook is ready', median(service).toFixed(2), ratio.toFixed(2)],
    ]),
  )
}

const fill = async (url: string, prefix: string): Promise<void> => {
  const settings = parseEventStoreUrl(url)
  if ('rule' in settings) throw new Error(`Cannot measure: ${settings.rule}`)
  const log = patientWith(await openEventStoreLog({ settings: { ...settings.value, prefix } }))
  const perAppend = eventsPerKey - 1
  await fillKeyEvents(log, await fillKeys(log, keys), { events: keys * perAppend, perAppend })
  await log.close()
}

/**
 * Repeats an append after an outage, for example when the store answers too late. The events keep their ids, so none is
 * stored twice.
 */
const patientWith = (log: EventLog): EventLog => ({
  append: async (stream, expected, events) => {
    for (;;) {
      try {
        return await log.append(stream, expected, events)
      } catch (error) {
        if (!(error instanceof Outage)) throw error
        await Bun.sleep(storeRetryPauseMsMax)
      }
    }
  },
  read: (stream, options) => log.read(stream, options),
  readAll: (options) => log.readAll(options),
  subscribe: (options, subscriber) => log.subscribe(options, subscriber),
  truncate: (stream, before) => log.truncate(stream, before),
  health: () => log.health(),
  close: () => log.close(),
})

const secondsOf = async (work: () => Promise<void>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}

const readBare = async (url: string, prefix: string): Promise<void> => {
  const words = [
    join(import.meta.dir, 'peers/bare-eventstoredb-read.ts'),
    prefix + keyStream(''),
    String(keys * eventsPerKey),
  ]
  const child = Bun.spawn([process.execPath, ...words], {
    env: { ...process.env, NODE_ENV: 'production', EVENTSTORE_URL: url },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0) throw new Error('Cannot compare: the bare client has failed')
}

/** The data folder is empty, so the service reads the whole log. */
const start = async (url: string, prefix: string): Promise<number> => {
  const dataDir = benchFolder()
  try {
    const startedAt = performance.now()
    const { child } = await startOn(dataDir, { env: { EVENTSTORE_URL: url, EVENTSTORE_PREFIX: prefix } })
    const seconds = (performance.now() - startedAt) / 1_000
    await end(child)
    return seconds
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}
