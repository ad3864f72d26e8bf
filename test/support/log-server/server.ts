import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb'
import type { Empty } from '@eventstore/db-client/generated/shared_pb'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb'
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import type { Certificate } from '../certificate.ts'
import { serveBatchAppend } from './batch-append.ts'
import { clusterInfo, type Member, supportedMethods } from './describe.ts'
import { serveRead } from './read.ts'
import { Door } from './server-door.ts'
import { Faults } from './server-faults.ts'
import type { Credentials, Endpoint, LogNode, Role } from './server-node.ts'
import { serveSingleAppend } from './single-append.ts'
import { LogState } from './state.ts'

export type Membership = {
  roleOf(id: string): Role
  leader(): Endpoint | null
  members(): readonly Member[]
}

export type LogServerOptions = {
  readonly state?: LogState
  /** Default: the server is alone and is the leader. */
  readonly membership?: Membership
  /** With TLS, the URL names `localhost`, because the client accepts no certificate for an IP address. */
  readonly tls?: Certificate
  /** The only user who has access. Set `tls` too, because clients send credentials only over TLS. */
  readonly user?: Credentials
  readonly version?: string
}

export type LogServer = {
  readonly id: string
  readonly endpoint: Endpoint
  readonly url: string
  readonly state: LogState
  readonly faults: Faults
  readonly isAlive: boolean
  /** From now on, the server accepts connections, but sends nothing, not even an answer to a ping. */
  silence(): void
  speak(): void
  cutConnections(): void
  /** Closes the port and all connections. Appends that wait in `beforeAppend` are lost. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export const startLogServer = async (options: LogServerOptions = {}): Promise<LogServer> => {
  const id = crypto.randomUUID()
  const state = options.state ?? new LogState()
  const faults = new Faults()
  let life = 1
  let isAlive = true

  const alone: Membership = {
    roleOf: () => 'leader',
    leader: () => endpoint,
    members: () => [{ id, endpoint, role: 'leader', isAlive }],
  }
  const membership = options.membership ?? alone
  const node: LogNode = {
    state,
    faults,
    user: options.user ?? null,
    role: () => membership.roleOf(id),
    leader: () => membership.leader(),
    life: () => life,
    cutConnections: () => door.cut(),
  }
  const inner = await startInner(node, membership, options)
  const door = new Door(inner.port)
  await door.open()
  const host = options.tls === undefined ? '127.0.0.1' : 'localhost'
  const endpoint = { host, port: door.port }

  return {
    id,
    endpoint,
    url: `esdb://${host}:${door.port}?tls=${options.tls !== undefined}`,
    state,
    faults,
    get isAlive() {
      return isAlive
    },
    silence: () => door.silence(),
    speak: () => door.speak(),
    cutConnections: () => door.cut(),
    kill: async () => {
      life += 1
      isAlive = false
      await door.close()
    },
    restart: async () => {
      await door.open()
      isAlive = true
    },
    stop: async () => {
      await door.close()
      inner.server.forceShutdown()
    },
  }
}

const startInner = async (node: LogNode, membership: Membership, { tls, version = '23.10.0' }: LogServerOptions) => {
  const server = new Server({ 'grpc.max_receive_message_length': 32 * 1024 * 1024 })
  const features: handleUnaryCall<Empty, SupportedMethods> = (_, reply) => reply(null, supportedMethods(version))
  const gossip: handleUnaryCall<Empty, ClusterInfo> = (_, reply) => reply(null, clusterInfo(membership.members()))
  server.addService(ServerFeaturesService, { getSupportedMethods: features })
  server.addService(GossipService, { read: gossip })
  const sent =
    <T>(to: 'read' | 'append', serialize: (answer: T) => Buffer) =>
    (answer: T): Buffer =>
      node.faults.ofAnswer(serialize(answer), to)
  const { read, batchAppend } = StreamsService
  const streams = {
    ...StreamsService,
    read: { ...read, responseSerialize: sent('read', read.responseSerialize) },
    batchAppend: { ...batchAppend, responseSerialize: sent('append', batchAppend.responseSerialize) },
  }
  server.addService(streams, {
    read: serveRead(node),
    append: serveSingleAppend(node),
    batchAppend: serveBatchAppend(node),
  })
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  return { server, port }
}
