import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb'
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb'
import { Channel, type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'
import { messageOf } from '../../domain/error-message.ts'
import type { EventStoreEndpoint, EventStoreSettings } from '../../eventstore-url.ts'
import {
  eventStoreKeepAliveMs,
  eventStoreKeepAliveTimeoutMs,
  eventStoreMessageBytesMax,
} from './eventstoredb-bounds.ts'
import { StoreMisfit } from './start-faults.ts'

export type Access = {
  readonly channel: ChannelCredentials
  readonly metadata: Metadata
  /** For `SubscriptionStream`. `null`: no TLS. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'key' | 'cert'> | null
}

/** @throws StoreMisfit if a certificate or key file cannot be read */
export const accessOf = ({ tls, credentials: user }: EventStoreSettings): Access => {
  const metadata = new Metadata()
  metadata.set('connection-name', 'cellarbook')
  if (tls === null) return { channel: credentials.createInsecure(), metadata, tls: null }
  if (user !== null) {
    const basic = Buffer.from(`${user.username}:${user.password}`).toString('base64')
    metadata.set('authorization', `Basic ${basic}`)
  }
  try {
    const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => (path ? readFileSync(path) : null))
    const secure = { ...(ca && { ca }), ...(key && { key }), ...(cert && { cert }) }
    return { channel: credentials.createSsl(ca, key, cert), metadata, tls: secure }
  } catch (cause) {
    throw new StoreMisfit(`Cannot read a file that EVENTSTORE_URL names: ${messageOf(cause)}`, { cause })
  }
}

type Call = { cancel(): void }

/**
 * `close` does not wait for the server, which can hang. Not the client object:
 * docs/decisions/002-eventstoredb-without-its-client-object.md
 */
export class Link {
  readonly endpoint: EventStoreEndpoint
  readonly streams: StreamsClient
  readonly features: ServerFeaturesClient
  readonly gossip: GossipClient
  readonly #access: Access
  readonly #channel: Channel
  readonly #calls = new Set<Call>()

  constructor(endpoint: EventStoreEndpoint, access: Access) {
    this.endpoint = endpoint
    this.#access = access
    const { host, port } = endpoint
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    this.#channel = new Channel(address, access.channel, {
      'grpc.keepalive_time_ms': eventStoreKeepAliveMs,
      'grpc.keepalive_timeout_ms': eventStoreKeepAliveTimeoutMs,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.max_receive_message_length': eventStoreMessageBytesMax,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    })
    const options = { channelOverride: this.#channel }
    this.streams = new StreamsClient(address, access.channel, options)
    this.features = new ServerFeaturesClient(address, access.channel, options)
    this.gossip = new GossipClient(address, access.channel, options)
  }

  /** With `leader`, other servers refuse the call: they can lack the newest events. */
  metadata(of: 'leader' | 'any'): Metadata {
    const metadata = this.#access.metadata.clone()
    if (of === 'leader') metadata.set('requires-leader', 'true')
    return metadata
  }

  /** For `close`. Run the returned function when the call ends. */
  hold(call: Call): () => void {
    this.#calls.add(call)
    return () => this.#calls.delete(call)
  }

  close(): void {
    for (const call of this.#calls) call.cancel()
    this.#channel.close()
  }
}

export const deadlineIn = (ms: number): Date => new Date(Date.now() + ms)
