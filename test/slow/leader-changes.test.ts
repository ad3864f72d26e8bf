import { expect, test } from 'bun:test'
import { type LogCluster, startLogCluster } from '../support/log-server/cluster.ts'
import { timesToTry } from '../support/long-trials.ts'
import { expectKept, startLoadedService } from './loaded-service.ts'

const changes = timesToTry(10, 50)

test(`${changes} changes of the leader under load lose and repeat no reading`, async () => {
  const cluster = await startLogCluster()
  const service = await startLoadedService(cluster.url, 8)
  const ledBy = new Set<string>()
  for (let change = 0; change < changes; change += 1) {
    await service.untilMoreAcknowledged(5)
    const recover = await takeLeaderAway(cluster, change)
    const next = cluster.servers[(change + 1) % cluster.servers.length]
    if (next === undefined) throw new Error('an empty cluster')
    cluster.elect(next)
    ledBy.add(next.id)
    await service.untilMoreAcknowledged(5)
    await recover()
  }
  await service.stop()
  await cluster.stop()

  expectKept(cluster.state, service.loads)
  expect(ledBy.size).toBe(cluster.servers.length)
}, 600_000)

/** By turns, the leader dies, goes silent or only loses its role. The returned function repairs this old leader. */
const takeLeaderAway = async (cluster: LogCluster, change: number): Promise<() => Promise<void>> => {
  const leader = cluster.leader()
  cluster.depose()
  if (leader === null) throw new Error('no leader')
  if (change % 3 === 0) {
    await leader.kill()
    return () => leader.restart()
  }
  if (change % 3 === 1) leader.silence()
  return async () => leader.speak()
}
