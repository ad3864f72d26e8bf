import { expect, test } from 'bun:test'
import { type LogServer, startLogServer } from '../support/log-server/server.ts'
import { timesToTry } from '../support/long-trials.ts'
import { expectKept, startLoadedService } from './loaded-service.ts'

const rounds = timesToTry(1, 3)

const ways: {
  title: string
  goAway(server: LogServer): Promise<void> | void
  comeBack(server: LogServer): Promise<void> | void
}[] = [
  { title: 'killed', goAway: (server) => server.kill(), comeBack: (server) => server.restart() },
  { title: 'silent', goAway: (server) => server.silence(), comeBack: (server) => server.speak() },
  {
    title: 'not ready',
    goAway: (server) => {
      server.faults.isReady = () => false
    },
    comeBack: (server) => {
      server.faults.isReady = () => true
    },
  },
]

for (const { title, goAway, comeBack } of ways) {
  test(`a store that is ${title} under load: 503 with Retry-After until it is back, then 200 again, and nothing is lost`, async () => {
    const server = await startLogServer()
    const service = await startLoadedService(server.url, 8)
    await service.untilMoreAcknowledged(50)
    for (let round = 0; round < rounds; round += 1) {
      await goAway(server)
      await service.untilMoreRefused(10)
      const acknowledged = service.acknowledged()
      await service.untilMoreRefused(40)
      expect(service.acknowledged()).toBe(acknowledged)
      await comeBack(server)
      await service.untilMoreAcknowledged(50)
    }
    await service.stop()
    await server.stop()

    expectKept(server.state, service.loads)
    const refused = service.loads.flatMap((load) => load.refused)
    expect(refused.filter(({ status, retryAfter }) => status !== 503 || Number(retryAfter) < 1)).toEqual([])
    expect([...new Set(refused.map(({ code }) => code))]).toEqual(['STORE_UNAVAILABLE'])
  }, 600_000)
}
