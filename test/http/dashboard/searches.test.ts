import { afterEach, expect, test } from 'bun:test'
import { questionsOfLog } from '../../../src/asked/questions-of-log.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { searchTurnBounds } from '../../../src/limits.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { emailOf } from '../../support/test-operators.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators } from './visitor.ts'

const { runningPerOperatorMax, waitingPerOperatorMax } = searchTurnBounds

let service: Service | null = null
afterEach(() => service?.stop())

/** Searches of the Log page wait until `release`. */
const startHeld = async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const running = { now: 0, most: 0 }
  const started = await startWithOperators({
    wrapCore: withAsk(undefined, (ask) => ({
      find: async (...args) => {
        running.now += 1
        running.most = Math.max(running.most, running.now)
        await held
        running.now -= 1
        return ask.find(...args)
      },
    })),
  })
  service = started
  await started.createKey()
  return { service: started, running, release }
}

test('an operator with very many searches is asked to try again, and delays nobody', async () => {
  const { service: held, running, release } = await startHeld()
  const [admin, auditor] = [await signedIn(held, 'admin'), await signedIn(held, 'auditor')]
  const tabs = Array.from({ length: runningPerOperatorMax + waitingPerOperatorMax + 1 }, () =>
    auditor.get(paths.log({ kind: 'keys' })),
  )
  const { status, headers, body } = await Promise.race(tabs)
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(body).toContain('Too many pages at once')
  expect(body).toContain('href="/log?kind=keys"')
  await until(() => running.now === runningPerOperatorMax)
  const other = admin.get(paths.log())
  await until(() => running.now === runningPerOperatorMax + 1)
  expect((await auditor.get(paths.cellar(testCellar))).status).toBe(200)
  release()
  const statuses = (await Promise.all(tabs)).map((answer) => answer.status)
  expect(statuses.filter((one) => one === 200)).toHaveLength(runningPerOperatorMax + waitingPerOperatorMax)
  expect((await other).status).toBe(200)
  expect(running).toEqual({ now: 0, most: runningPerOperatorMax + 1 })
})

test('a search is not shown if its session ends while it waits', async () => {
  const { service: held, running, release } = await startHeld()
  const auditor = await signedIn(held, 'auditor')
  const all = Array.from({ length: runningPerOperatorMax + 1 }, () => auditor.get(paths.log()))
  await until(() => held.server.pendingRequests === runningPerOperatorMax + 1)
  await until(() => running.now === runningPerOperatorMax)
  await held.core.operators.endSessions(emailOf.auditor, { allBut: null }, testAsker)
  release()
  expect((await Promise.all(all)).filter(({ location }) => location?.startsWith('/sign-in'))).toHaveLength(1)
})

test('the newest readings of a key take two reads, however many there are', async () => {
  const reads: string[] = []
  const log = await openFreshLog()
  const read: typeof log.read = (stream, options) => {
    reads.push(stream)
    return log.read(stream, options)
  }
  const asked = questionsOfLog({ ...passingLog(log), read })
  const started = await startWithOperators({ log, questions: asked })
  service = started
  const { key, keyId } = await started.createKey()
  for (let count = 0; count < 20; count += 1) await started.post(validReading, key)
  const admin = await signedIn(started, 'admin')
  const { body } = await admin.get(paths.log({ kind: 'readings', key: keyId }))
  expect(body.match(/<tr id="event-/g)).toHaveLength(20)
  expect(reads).toEqual([readingsStream(keyId), readingsStream(keyId)])
  await started.stop()
  service = null
  await log.close()
})
