import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { parseConfig } from '../../../src/config.ts'
import { diskFreeBytesMin } from '../../../src/log/sqlite/disk-space.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { isEmbedded, onEmbedded } from '../../support/logs/engine.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Service, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators } from './visitor.ts'

const secret = 'p4ss-of-the-store'
const { settings } = parseConfig({
  HOST: '::1',
  EVENTSTORE_URL: `esdb://anna:${secret}@db.example:2113?tls=true`,
  PUBLIC_URL: 'https://cellar.example',
})

let service: Service

beforeEach(async () => {
  service = await startWithOperators({ settings })
})
afterEach(() => service.stop())

const health = async (role: 'admin' | 'auditor' = 'auditor', of = service): Promise<string> =>
  (await (await signedIn(of, role)).get('/health')).body

describe('the page Health', () => {
  test('shows admins and auditors that readings are accepted, and how fast', async () => {
    const { key } = await service.createKey()
    await service.post(validReading, key)
    await service.postBatch([validReading, validReading], key)
    for (const role of ['admin', 'auditor'] as const) {
      const page = await health(role)
      expect(page).toMatch(/<span>yes<\/span><\/span> <span>3 in the last \w+[^<]*, 99 of 100 answered within \d+/)
      expect(page).toContain(isEmbedded ? 'Embedded log' : 'EventStoreDB, leader 127.0.0.1:')
      expect(page).toContain('All follow the log')
    }
  })

  test('shows the configuration and where it came from, but no secret', async () => {
    const page = await health()
    const rows = [...page.matchAll(/<code>([A-Z_]+)<\/code><small.*?<\/tr>/g)]
    expect(rows.map(([, name]) => name)).toEqual(settings.map(({ name }) => name))
    const rowOf = (name: string) => rows.find(([, found]) => found === name)?.[0] ?? ''
    expect(rowOf('HOST')).toContain('::1')
    expect(rowOf('HOST')).toContain('environment')
    expect(rowOf('PORT')).toContain('default')
    expect(rowOf('EVENTSTORE_URL')).toContain('<bdi>not shown</bdi>')
    for (const hidden of [secret, 'anna', 'db.example']) expect(page).not.toContain(hidden)
  })

  test('has a link in the navigation of each page, and works without JavaScript', async () => {
    const page = await health()
    expect(page).toContain('<a href="/health" aria-current="page">Health</a>')
    expect(page).toContain('<noscript><meta http-equiv="refresh" content="10"/></noscript>')
    const cellars = (await (await signedIn(service, 'auditor')).get('/cellars')).body
    expect(cellars).toContain('<a href="/health">Health</a>')
  })
})

onEmbedded('the store has its own disk')('the page Health says when the disk is almost full', async () => {
  const folder = temporaryFolder()
  let freeBytes = 3 * diskFreeBytesMin
  const options = { dataDir: folder.path, diskReserveBytes: 2 * diskFreeBytesMin, freeBytes: async () => freeBytes }
  const log = openSqliteLog(options)
  const full = await startWithOperators({ log })
  await until(() => log.figures?.().disk !== null)
  expect(await health('admin', full)).toContain('201 MB free, too early to say when it is full')
  freeBytes = 90_000_000
  await until(() => log.refusesReadings === true)
  const page = await health('admin', full)
  expect(page).toContain('<span>almost full</span>')
  expect(page).toContain('90 MB free')
  expect(page).toContain('<span>not all</span>')
  expect(page).toContain('The disk is almost full.')
  await full.stop()
  await log.close()
  folder.remove()
})
