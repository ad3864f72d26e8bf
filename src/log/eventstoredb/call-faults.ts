import { Metadata, status } from '@grpc/grpc-js'
import type { EventStoreEndpoint } from '../../eventstore-url.ts'

export type CallFault =
  | { readonly kind: 'not_leader'; readonly leader: EventStoreEndpoint; readonly why: string }
  | { readonly kind: 'denied' | 'untrusted' | 'away' | 'timeout' | 'other'; readonly why: string }

export const callFaultOf = (error: unknown): CallFault => {
  if (!(error instanceof Error)) return { kind: 'other', why: String(error) }
  const code = 'code' in error && typeof error.code === 'number' ? error.code : null
  const why = 'details' in error && typeof error.details === 'string' ? error.details : error.message
  const leader = 'metadata' in error && error.metadata instanceof Metadata ? leaderIn(error.metadata) : null
  if (leader !== null) return { kind: 'not_leader', leader, why: `it follows ${leader.host}:${leader.port}` }
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) return { kind: 'denied', why }
  if (code === status.DEADLINE_EXCEEDED) return { kind: 'timeout', why: 'it does not answer' }
  if (code === status.UNAVAILABLE || code === status.CANCELLED || code === status.INTERNAL) {
    return { kind: certificateWords.test(why) ? 'untrusted' : 'away', why: plainWords(why) }
  }
  if (why.includes('No leader info')) return { kind: 'away', why: noLeaderKnown }
  return { kind: 'other', why }
}

export const noLeaderKnown = 'it follows, and knows no leader'

const leaderIn = (metadata: Metadata): EventStoreEndpoint | null => {
  const host = metadata.get('leader-endpoint-host')[0]?.toString()
  const port = Number(metadata.get('leader-endpoint-port')[0]?.toString())
  return host !== undefined && Number.isInteger(port) && port > 0 ? { host, port } : null
}

const certificateWords = /certificate|self[- ]signed|issuer|UNABLE_TO|ERR_TLS|altname|CERT_/i

/** The gRPC library's details of its attempts to connect do not help an operator. */
const plainWords = (why: string): string => {
  if (/ECONNREFUSED/.test(why)) return 'the connection was refused'
  // EventStoreDB sends this message for both causes.
  if (/Server Is Not Ready/.test(why)) return 'it is not ready: it is starting, or knows no leader'
  if (/ENOTFOUND|EAI_AGAIN|Name resolution failed/.test(why)) return 'its name cannot be resolved'
  return why.replace(/^No connection established\. Last error: /, '').replace(/\.?\s*Resolution note:.*$/s, '')
}
