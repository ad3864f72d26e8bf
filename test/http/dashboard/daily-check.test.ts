import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { checkDelayMs, checkEveryMs } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { formatVersion } from '../../../src/log/sqlite/schema.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { type DailyCheck, startDailyCheck } from '../../../src/log-check-report.ts'
import { harmLog } from '../../support/logs/harm.ts'
import { reading } from '../../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import type { Service } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators } from './visitor.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let log: EventLog
let schedule: DrivenSchedule
let logCheck: DailyCheck
let service: Service
let lines: (readonly [level: string, what: string, facts: object])[]

beforeEach(async () => {
  folder = temporaryFolder()
  log = openSqliteLog({ dataDir: folder.path })
  await log.append('readings-one', 'none', [reading('readings-one'), reading('readings-one')])
  schedule = drivenSchedule()
  const clock = manualClock()
  lines = []
  const line =
    (level: string) =>
    (what: string, facts: object = {}) =>
      lines.push([level, what, facts])
  logCheck = startDailyCheck({
    logPath: join(folder.path, 'log.db'),
    clock,
    lines: { info: line('info'), warn: line('warn'), error: line('error'), debug: line('debug') },
    later: schedule.after,
  })
  service = await startWithOperators({ log, clock, logCheck })
})
afterEach(async () => {
  await logCheck.stop()
  await service.stop()
  await log.close()
  folder.remove()
})

/** Lets the time pass and waits for the end of the check that begins then. */
const checked = async (ms: number): Promise<void> => {
  const before = lines.length
  await schedule.advance(ms)
  await until(() => lines.length > before)
}

const health = async (role: 'admin' | 'auditor'): Promise<string> =>
  (await (await signedIn(service, role)).get('/health')).body

const changeRow = (difference: number): void =>
  harmLog(folder.path, (database) =>
    database.run(`UPDATE events SET recorded_at = recorded_at + ${difference} WHERE position = 1`),
  )

const place = 'revision 0 of "readings-one", position 1: the row does not match its checksum'

describe('the daily check of the log', () => {
  test('shows admins and auditors that the log is sound, and writes a line', async () => {
    expect(await health('admin')).toContain('The first check since the start is under way, or begins soon')
    await checked(checkDelayMs)
    const facts = { rows: expect.any(Number), events: expect.any(Number), tookMs: 0 }
    expect(lines).toEqual([['info', 'the log was checked: it is sound', facts]])
    for (const role of ['admin', 'auditor'] as const) {
      const page = await health(role)
      expect(page).toContain('</svg><span>sound</span>')
      expect(page).toMatch(/: \d+ events</)
      expect(page).not.toContain('The event log is damaged')
    }
    expect(await (await fetch(`${service.url}/sign-in`)).text()).not.toContain('Event log')
  })

  test('names damage on every page, in a line, and among the reasons, and stays ready', async () => {
    changeRow(1)
    await checked(checkDelayMs)
    expect(lines).toMatchObject([
      ['error', 'the log was checked: it is damaged', { first: place, found: '1 changed row' }],
    ])
    expect(service.reasons()).toMatchObject([{ kind: 'damaged', why: place, refuses: 'nothing' }])
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    for (const role of ['admin', 'auditor'] as const) {
      const page = await health(role)
      expect(page).toContain('The event log is damaged.')
      expect(page).toContain('1 changed row')
    }
    expect(await (await fetch(`${service.url}/sign-in`)).text()).not.toContain('damaged')
  })

  test('is repeated after a day, and keeps its warning until a restart', async () => {
    changeRow(1)
    await checked(checkDelayMs)
    changeRow(-1)
    await schedule.advance(checkEveryMs - 1)
    expect(lines).toHaveLength(1)
    await checked(1)
    expect(lines[1]).toMatchObject(['info', 'the log was checked: it is sound', {}])
    expect(service.reasons()).toMatchObject([{ kind: 'damaged', why: place }])
  })

  test('says that it failed, and tries again after a day', async () => {
    harmLog(folder.path, (database) => database.run('PRAGMA user_version = 99'))
    await checked(checkDelayMs)
    expect(lines).toMatchObject([['warn', expect.stringContaining('could not be checked'), {}]])
    expect(await health('admin')).toContain('it has format 99')
    harmLog(folder.path, (database) => database.run(`PRAGMA user_version = ${formatVersion}`))
    await checked(checkEveryMs)
    expect(lines[1]).toMatchObject(['info', 'the log was checked: it is sound', {}])
  })
})
