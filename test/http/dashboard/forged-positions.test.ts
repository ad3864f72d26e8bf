import { expect, test } from 'bun:test'
import { paths } from '../../../views/paths.ts'
import { startLogServer } from '../../support/log-server/server.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { testCellar } from '../../support/test-service.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators } from './visitor.ts'

test('a position that no event of EventStoreDB has is not found', async () => {
  const server = await startLogServer()
  const log = await openAt(server.url)
  const service = await startWithOperators({ log, wrapCore: withAsk() })
  await service.createKey()
  const auditor = await signedIn(service, 'auditor')
  const list = { kind: 'readings', cellar: testCellar } as const
  const id = '019ca945-0de8-7000-8000-000000000000'
  for (const path of [paths.log({ ...list, before: 7 }), paths.log({ ...list, after: 7 }), paths.found(id, 7)])
    expect([path, (await auditor.get(path)).status]).toEqual([path, 404])
  expect((await auditor.get(paths.log(list))).status).toBe(200)
  await server.stop()
  expect((await auditor.get(paths.log({ ...list, before: 7 }))).status).toBe(503)
  await service.stop()
  await log.close()
})
