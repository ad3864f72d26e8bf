import { expect, test } from 'bun:test'
import {
  download,
  exportTests,
  fastLimit,
  lastEnd,
  pausing,
  postReadings,
  revisionsIn,
} from '../http/dashboard/exports/downloading.ts'
import { signedIn } from '../http/dashboard/visitor.ts'
import { startLogServer } from '../support/log-server/server.ts'
import { openAt, untilHealth } from '../support/logs/event-store-log.ts'

const { start, cleanUp } = exportTests()

test('an export goes on after EventStoreDB was cut off, silent and restarted', async () => {
  const server = await startLogServer()
  cleanUp.push(() => server.stop())
  const log = await openAt(server.url)
  cleanUp.push(() => log.close())
  const faults = [
    async () => server.cutConnections(),
    async () => {
      server.silence()
      await untilHealth(log, false)
      server.speak()
    },
    async () => {
      await server.kill()
      await untilHealth(log, false)
      await server.restart()
    },
  ]
  let pages = 0
  const wrapCore = pausing(async () => {
    pages += 1
    if (pages > 1) await faults.shift()?.()
  })
  const service = await start({ log, wrapCore })
  const { key, keyId } = await service.createKey({ limit: fastLimit })
  const count = 4_000
  await postReadings(service, key, count)
  const admin = await signedIn(service, 'admin')
  const { answer } = await download(service, admin, { list: 'readings', key: keyId })
  expect(revisionsIn(await answer)).toEqual(Array.from({ length: count }, (_, revision) => revision))
  expect(faults).toEqual([])
  expect(await lastEnd(service)).toMatchObject({ phase: 'complete', rows: count })
}, 600_000)
