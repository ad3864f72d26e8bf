import type { Member } from './describe.ts'
import { type LogServer, startLogServer } from './server.ts'
import { LogState } from './state.ts'

/** Several servers that share one log, so that tests can change the leader. */
export type LogCluster = {
  readonly state: LogState
  readonly servers: readonly LogServer[]
  readonly url: string
  leader(): LogServer | null
  /** Takes the leadership away: until `elect`, no server leads, and none writes. */
  depose(): void
  elect(server: LogServer): void
  stop(): Promise<void>
}

export const startLogCluster = async (size = 3): Promise<LogCluster> => {
  const state = new LogState()
  const servers: LogServer[] = []
  let leader: LogServer | null = null
  const roleOf = (id: string) => (leader === null ? 'leaderless' : leader.id === id ? 'leader' : 'follower')
  const member = ({ id, endpoint, isAlive }: LogServer): Member => ({ id, endpoint, isAlive, role: roleOf(id) })
  const membership = {
    roleOf,
    leader: () => leader?.endpoint ?? null,
    members: () => servers.map(member),
  }
  for (let count = 0; count < size; count += 1) servers.push(await startLogServer({ state, membership }))
  leader = servers[0] ?? null

  return {
    state,
    servers,
    url: `esdb://${servers.map(({ endpoint }) => `${endpoint.host}:${endpoint.port}`).join(',')}?tls=false`,
    leader: () => leader,
    depose: () => {
      leader = null
    },
    elect: (server) => {
      leader = server
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}
