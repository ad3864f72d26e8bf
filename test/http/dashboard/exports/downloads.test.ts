import { describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import {
  exportsBegunMax,
  exportsMax,
  exportsOfAuditorsMax,
  exportWindowMs,
} from '../../../../src/http/dashboard/exports/downloads.ts'
import { exportLookMs, exportSpareMsMax } from '../../../../src/http/dashboard/exports/spare-time.ts'
import { readPageEventsMax } from '../../../../src/limits.ts'
import { Outage } from '../../../../src/log/event-log.ts'
import { openFreshLog } from '../../../support/logs/engine.ts'
import { passingLog } from '../../../support/logs/passing-log.ts'
import { addOperator, emailOf, testPassword } from '../../../support/test-operators.ts'
import { type Service, testAsker, testCellar } from '../../../support/test-service.ts'
import { drivenSchedule } from '../../../support/time/driven-schedule.ts'
import { manualClock } from '../../../support/time/manual-clock.ts'
import { until } from '../../../support/time/until.ts'
import { withAsk } from '../log-world.ts'
import { signedIn, visitor } from '../visitor.ts'
import {
  download,
  downloadUnread,
  exportsOf,
  exportTests,
  fastLimit,
  holdAfter,
  lastEnd,
  postReadings,
  revisionsIn,
} from './downloading.ts'

const { cleanUp, start } = exportTests()

describe('exports at once', () => {
  const startWithAuditors = async () => {
    const [log, clock] = [await openFreshLog(), manualClock()]
    cleanUp.push(() => log.close())
    const emails = ['eve@example.org', 'mallory@example.org']
    for (const email of emails) await addOperator(log, clock.now(), { email, role: 'auditor' })
    const { wrapCore, release } = holdAfter(0)
    const service = await start({ log, clock, wrapCore })
    const auditors = emails.map(() => visitor(service.url))
    for (const [index, person] of auditors.entries()) {
      await person.get('/sign-in')
      await person.post('/sign-in', { email: emails[index] ?? '', password: testPassword, next: '' })
      await person.get('/cellars')
    }
    const [eve, mallory] = auditors
    if (eve === undefined || mallory === undefined) throw new Error('Cannot sign in the auditors of a test')
    return { service, release, eve, mallory }
  }

  test('are one for an operator and two for auditors, so admins have a place', async () => {
    const { service, release, eve, mallory } = await startWithAuditors()
    const [admin, auditor] = [await signedIn(service, 'admin'), await signedIn(service, 'auditor')]
    const first = await download(service, auditor, { list: 'events' })
    await until(() => service.app.downloads.count === 1)
    const own = await auditor.post('/exports', { list: 'events' })
    expect([own.status, own.body.includes('Your other export is still running')]).toEqual([409, true])
    const second = await download(service, mallory, { list: 'events' })
    await until(() => service.app.downloads.count === exportsOfAuditorsMax)
    const full = await eve.post('/exports', { list: 'events' })
    expect([full.status, full.body.includes('Too many exports at once')]).toEqual([503, true])
    const ofAdmin = await download(service, admin, { list: 'events' })
    await until(() => service.app.downloads.count === exportsMax)
    release()
    expect(await first.answer).toContain('LogExported')
    await Promise.all([second.answer, ofAdmin.answer])
    await until(() => service.app.downloads.count === 0)
    expect((await eve.post('/exports', { list: 'events' })).status).toBe(200)
  })

  test('of an operator are bounded in an hour, because their records stay', async () => {
    const { service, release, eve, mallory } = await startWithAuditors()
    release()
    const fields = { list: 'keys' }
    expect((await eve.post('/exports', fields)).status).toBe(200)
    service.clock.advance(1_000)
    for (let begun = 1; begun < exportsBegunMax; begun += 1)
      expect((await eve.post('/exports', fields)).status).toBe(200)
    const records = await exportsOf(service)
    const refused = await eve.post('/exports', fields)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(exportWindowMs / 1_000 - 1)])
    expect(refused.body).toContain('Too many exports in the last hour')
    expect(await exportsOf(service)).toHaveLength(records.length)
    expect((await mallory.post('/exports', fields)).status).toBe(200)
    service.clock.advance(exportWindowMs - 1_001)
    await eve.get('/cellars')
    expect((await eve.post('/exports', fields)).status).toBe(429)
    service.clock.advance(1)
    expect((await eve.post('/exports', fields)).status).toBe(200)
    expect((await eve.post('/exports', fields)).status).toBe(429)
  })
})

test('a client that leaves while the end of its export is recorded does no harm', async () => {
  let isHeld = false
  let release = (): void => {}
  const mayEnd = new Promise<void>((resolve) => {
    release = resolve
  })
  const wrapCore = (core: Core): Core => ({
    ...core,
    recordExport: async (data, asker) => {
      if (data.phase === 'complete') {
        isHeld = true
        await mayEnd
      }
      return core.recordExport(data, asker)
    },
  })
  const unhandled: unknown[] = []
  const note = (thrown: unknown): void => {
    unhandled.push(thrown)
  }
  process.on('unhandledRejection', note)
  cleanUp.push(async () => {
    process.off('unhandledRejection', note)
  })
  const service = await start({ wrapCore })
  const { leave } = await download(service, await signedIn(service, 'auditor'), { list: 'keys' })
  await until(() => isHeld)
  leave.abort()
  await until(() => service.server.pendingRequests === 0)
  release()
  await until(() => service.app.downloads.count === 0)
  expect(await lastEnd(service)).toMatchObject({ phase: 'complete' })
  expect(unhandled).toEqual([])
})

describe('an export is cut off', () => {
  const startHeld = async (options: Parameters<typeof start>[0] = {}) => {
    const { wrapCore, release, held } = holdAfter(2)
    const service = await start({ wrapCore, ...options })
    // Before a test stops its service, held pages must go on.
    cleanUp.push(async () => release())
    const { key } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, 4_000)
    const auditor = await signedIn(service, 'auditor')
    const { answer, leave } = await download(service, auditor, { list: 'readings', cellar: testCellar })
    await until(() => held() === 1)
    return { service, auditor, answer, leave, release }
  }

  const expectCutOff = async (service: Service, why: string): Promise<void> => {
    await until(() => service.app.downloads.count === 0)
    expect(await lastEnd(service)).toMatchObject({ phase: 'cut_off', begunRevision: 0, why })
  }

  test('when the session ends, and the download is broken', async () => {
    const { service, answer } = await startHeld()
    await service.core.operators.endSessions(emailOf.auditor, { allBut: null }, testAsker)
    await expectCutOff(service, 'the session ended')
    await expect(answer).rejects.toThrow()
  })

  test('when the session has expired without an event', async () => {
    const { service, answer, release } = await startHeld()
    service.clock.advance(13 * 3_600_000)
    release()
    await expectCutOff(service, 'the session ended')
    await expect(answer).rejects.toThrow()
  })

  test('when the client leaves, and the next export can begin', async () => {
    const { service, auditor, leave, release } = await startHeld()
    leave.abort()
    await expectCutOff(service, 'the client left')
    release()
    expect((await auditor.post('/exports', { list: 'keys' })).status).toBe(200)
  })

  test('when the service stops, and no other export begins', async () => {
    const { service, auditor, answer } = await startHeld()
    await service.app.downloads.close()
    await expectCutOff(service, 'the service stopped')
    await expect(answer).rejects.toThrow()
    expect((await auditor.post('/exports', { list: 'keys' })).status).toBe(503)
    expect(await exportsOf(service)).toHaveLength(2)
  })

  test('when the log cannot be read, with the reason in the log', async () => {
    const log = await openFreshLog()
    cleanUp.push(() => log.close())
    let mustFail = false
    const failing = {
      ...passingLog(log),
      readAll: async (options: Parameters<typeof log.readAll>[0]) => {
        if (mustFail && options.direction !== 'backwards') throw new Error('a fault of the disk')
        return log.readAll(options)
      },
    }
    const service = await start({ log: failing })
    await service.createKey()
    const admin = await signedIn(service, 'admin')
    mustFail = true
    const { answer } = await download(service, admin, { list: 'events' })
    await expect(answer).rejects.toThrow()
    await expectCutOff(service, 'Cannot answer "exportPage": a fault of the disk')
  })

  test('when the client takes nothing for too long', async () => {
    const exportSchedule = drivenSchedule()
    const { service } = await startUnread({ exportSchedule })
    await exportSchedule.advance(exportSpareMsMax - exportLookMs)
    expect(service.app.downloads.count).toBe(1)
    await exportSchedule.advance(exportLookMs)
    await expectCutOff(service, 'the client was too slow')
  }, 600_000)

  test('but not while the log is read slowly', async () => {
    const exportSchedule = drivenSchedule()
    const { service, answer, release } = await startHeld({ exportSchedule })
    await exportSchedule.advance(exportSpareMsMax * 2)
    release()
    expect(revisionsIn(await answer)).toHaveLength(4_000)
    expect(await lastEnd(service)).toMatchObject({ phase: 'complete' })
  })

  test('when the session has expired and the client takes nothing', async () => {
    const exportSchedule = drivenSchedule()
    const { service } = await startUnread({ exportSchedule })
    service.clock.advance(13 * 3_600_000)
    await exportSchedule.advance(exportLookMs)
    await expectCutOff(service, 'the session ended')
  }, 600_000)
})

describe('an export while the store is unavailable', () => {
  const away = new Outage('Cannot read the log: it does not answer', 'not_written', 'unavailable')

  const awayAt = (...calls: readonly number[]) => {
    let count = 0
    return (): void => {
      count += 1
      if (calls.includes(count)) throw away
    }
  }

  test('goes on after a while, without a gap and without a repeated row', async () => {
    const inner = await openFreshLog()
    cleanUp.push(() => inner.close())
    const [failRead, failReadAll] = [awayAt(2, 5), awayAt(2, 5)]
    const log = {
      ...passingLog(inner),
      read: async (stream: string, options: Parameters<typeof inner.read>[1]) => {
        if (stream.startsWith('readings-') && options.limit === readPageEventsMax) failRead()
        return inner.read(stream, options)
      },
      readAll: async (options: Parameters<typeof inner.readAll>[0]) => {
        if (options.limit === readPageEventsMax) failReadAll()
        return inner.readAll(options)
      },
    }
    const service = await start({ log })
    const { key, keyId } = await service.createKey({ limit: fastLimit })
    await postReadings(service, key, readPageEventsMax * 5)
    const admin = await signedIn(service, 'admin')
    for (const list of [{ key: keyId }, { cellar: testCellar }]) {
      const { answer } = await download(service, admin, { list: 'readings', ...list })
      expect(revisionsIn(await answer)).toEqual(
        Array.from({ length: readPageEventsMax * 5 }, (_, revision) => revision),
      )
      expect(await lastEnd(service)).toMatchObject({ phase: 'complete', rows: readPageEventsMax * 5 })
    }
  })

  test('goes on where ask.db finds the events', async () => {
    const fail = awayAt(1)
    const service = await start({
      wrapCore: withAsk(undefined, (ask) => ({
        find: async (filter, page) => {
          fail()
          return ask.find(filter, page)
        },
      })),
    })
    await service.createKey()
    const admin = await signedIn(service, 'admin')
    const { answer } = await download(service, admin, { list: 'events', kind: 'keys' })
    expect(revisionsIn(await answer)).toEqual([0])
    expect(await lastEnd(service)).toMatchObject({ phase: 'complete', rows: 1 })
  })
})

/** Begins an export that a client does not read, and waits until the export waits for the client. */
const startUnread = async (options: Parameters<typeof start>[0] = {}) => {
  const inner = await openFreshLog()
  cleanUp.push(() => inner.close())
  let pages = 0
  const log = {
    ...passingLog(inner),
    read: (stream: string, readOptions: Parameters<typeof inner.read>[1]) => {
      if (stream.startsWith('readings-') && readOptions.limit === readPageEventsMax) pages += 1
      return inner.read(stream, readOptions)
    },
  }
  const service = await start({ log, ...options })
  const { key, keyId } = await service.createKey({ limit: fastLimit })
  await postReadings(service, key, readPageEventsMax * unreadPages)
  const admin = await signedIn(service, 'admin')
  const connection = await downloadUnread(service, admin, { list: 'readings', key: keyId })
  await until(() => pages > 1)
  let [seen, quietTurns] = [0, 0]
  await until(() => {
    quietTurns = pages === seen ? quietTurns + 1 : 0
    seen = pages
    return quietTurns > 20_000
  })
  return { service, connection, pages }
}

const unreadPages = 80

describe('the memory of an export', () => {
  test('is bounded: a browser that does not read stops the reading', async () => {
    const { service, connection, pages } = await startUnread()
    // Sockets of the kernel hold some MB, and all pages together are several times as large.
    expect(pages).toBeLessThan(unreadPages / 2)
    expect(service.app.downloads.count).toBe(1)
    connection.drop()
    await until(() => service.app.downloads.count === 0)
    expect(await lastEnd(service)).toMatchObject({ phase: 'cut_off', why: 'the client left' })
  }, 600_000)
})
