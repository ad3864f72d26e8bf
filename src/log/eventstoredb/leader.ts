import { randomUUID } from 'node:crypto'
import { MemberInfo } from '@eventstore/db-client/generated/gossip_pb'
import { Empty, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb'
import { AppendReq } from '@eventstore/db-client/generated/streams_pb'
import { type ServiceError, status } from '@grpc/grpc-js'
import type { EventStoreEndpoint, EventStoreSettings } from '../../eventstore-url.ts'
import { type CallFault, callFaultOf, noLeaderKnown } from './call-faults.ts'
import { eventStoreAppendBytesMax } from './eventstoredb-bounds.ts'
import { readAll, readBackwards, readEvents } from './requests.ts'
import { type Access, deadlineIn, Link } from './store-link.ts'

const eventStoreAskMsMax = 1_000

/**
 * Earlier versions do not report when a filtered subscription has delivered all existing events, for which a start waits.
 */
const versionMin = [23, 10] as const

export type Found = { readonly link: Link } | { readonly at: string; readonly fault: StartFault }
export type StartFault = CallFault | { readonly kind: 'too_old' | 'may_not_follow'; readonly why: string }

/** `hint`: the leader that another server has named. */
export const findLeader = async (
  settings: EventStoreSettings,
  access: Access,
  { probeStream, hint }: { readonly probeStream: string; readonly hint: EventStoreEndpoint | null },
): Promise<Found> => {
  const answer = hint === null ? await leaderOf(settings, access) : { endpoint: hint }
  if ('fault' in answer) return answer
  const link = new Link(answer.endpoint, access)
  const fault = await faultOfLink(link, probeStream)
  if (fault === null) return { link }
  link.close()
  return { at: nameOf(answer.endpoint), fault }
}

export const nameOf = ({ host, port }: EventStoreEndpoint): string => `${host}:${port}`

export const faultOfLink = async (link: Link, probeStream: string): Promise<StartFault | null> => {
  const ask = (request: ReturnType<typeof readBackwards>) =>
    readEvents(link, request, { of: 'leader', msMax: eventStoreAskMsMax })
  try {
    const version = await versionOf(link)
    if (isTooOld(version)) {
      return {
        kind: 'too_old',
        why: `it is version ${version}, and the oldest supported version is ${versionMin.join('.')}`,
      }
    }
    await ask(readBackwards(probeStream, { from: null, limit: 1 }))
  } catch (error) {
    return callFaultOf(error)
  }
  try {
    await ask(readAll({ from: null, limit: 1 }, 'backwards', null))
    return null
  } catch (error) {
    const fault = callFaultOf(error)
    return fault.kind === 'denied' ? { kind: 'may_not_follow', why: 'it denies to read $all' } : fault
  }
}

const versionOf = (link: Link): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { deadline: deadlineIn(eventStoreAskMsMax) }
    link.features.getSupportedMethods(new Empty(), link.metadata('any'), options, (error, methods) => {
      if (error === null) resolve(methods.getEventStoreServerVersion())
      else if (error.code === unimplemented) resolve('before 21.10')
      else reject(error)
    })
  })

const unimplemented = 12

const isTooOld = (version: string): boolean => {
  if (version.startsWith('before')) return true
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1])
}

/**
 * The server's `MaxAppendSize`, if it would refuse large batches for ever. Tried at a revision that no stream has, so
 * nothing is written.
 */
export const tooSmallAppendSize = (link: Link, streamName: string): Promise<number | null> =>
  new Promise((resolve) => {
    const options = { deadline: deadlineIn(eventStoreAskMsMax) }
    const call = link.streams.append(link.metadata('leader'), options, (error) => resolve(sizeIn(error)))
    // The callback above gets the reason.
    call.on('error', () => {})
    const stream = new StreamIdentifier().setStreamName(Buffer.from(streamName))
    call.write(new AppendReq().setOptions(new AppendReq.Options().setStreamIdentifier(stream).setRevision(noRevision)))
    call.write(new AppendReq().setProposedMessage(largestEvent()))
    call.end()
  })

const noRevision = String(Number.MAX_SAFE_INTEGER)

const largestEvent = (): AppendReq.ProposedMessage => {
  const event = new AppendReq.ProposedMessage().setId(new UUID().setString(randomUUID()))
  event.getMetadataMap().set('type', 'AppendSizeAsked').set('content-type', 'application/octet-stream')
  return event.setData(Buffer.alloc(eventStoreAppendBytesMax))
}

const sizeIn = (error: ServiceError | null): number | null => {
  if (error?.code !== status.INVALID_ARGUMENT) return null
  const [bytes] = error.metadata.get('maximum-append-size')
  return bytes === undefined ? null : Number(bytes)
}

type LeaderAnswer = { readonly endpoint: EventStoreEndpoint } | { readonly at: string; readonly fault: CallFault }

/** Asks all servers at once, because one can be silent. Unless `discovers`, the server from the settings is the leader. */
const leaderOf = async ({ endpoints, discovers }: EventStoreSettings, access: Access): Promise<LeaderAnswer> => {
  const [first] = endpoints
  if (first !== undefined && !discovers) return { endpoint: first }
  const asked = endpoints.map(async (endpoint) => {
    const leader = await leaderByGossip(endpoint, access)
    if (leader === null) throw new Error(noLeaderKnown)
    return leader
  })
  try {
    return { endpoint: await Promise.any(asked) }
  } catch (error) {
    const [cause] = error instanceof AggregateError ? error.errors : [error]
    return { at: endpoints.map(nameOf).join(', '), fault: callFaultOf(cause) }
  }
}

const leaderByGossip = async (endpoint: EventStoreEndpoint, access: Access): Promise<EventStoreEndpoint | null> => {
  const link = new Link(endpoint, access)
  try {
    const members = await membersOf(link)
    const leader = members.find((member) => member.getIsAlive() && member.getState() === MemberInfo.VNodeState.LEADER)
    const at = leader?.getHttpEndPoint()
    return at === undefined ? null : { host: at.getAddress(), port: at.getPort() }
  } finally {
    link.close()
  }
}

const membersOf = (link: Link): Promise<readonly MemberInfo[]> =>
  new Promise((resolve, reject) => {
    const options = { deadline: deadlineIn(eventStoreAskMsMax) }
    link.gossip.read(new Empty(), link.metadata('any'), options, (error, info) => {
      if (error === null) resolve(info.getMembersList())
      else reject(error)
    })
  })
