import { ClusterInfo, EndPoint, MemberInfo } from '@eventstore/db-client/generated/gossip_pb'
import { SupportedMethod, SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb'
import { uuidOf } from './messages.ts'
import type { Endpoint, Role } from './server-node.ts'

export type Member = {
  readonly id: string
  readonly endpoint: Endpoint
  readonly role: Role
  readonly isAlive: boolean
}

export const supportedMethods = (version: string): SupportedMethods => {
  const message = new SupportedMethods()
  message.setEventStoreServerVersion(version)
  message.setMethodsList([
    method('append', []),
    method('batchappend', ['deadline_duration']),
    method('read', ['position', 'events']),
  ])
  return message
}

const method = (name: string, features: string[]): SupportedMethod => {
  const message = new SupportedMethod()
  message.setServiceName('event_store.client.streams.streams')
  message.setMethodName(name)
  message.setFeaturesList(features)
  return message
}

export const clusterInfo = (members: readonly Member[]): ClusterInfo => {
  const message = new ClusterInfo()
  message.setMembersList(members.map(memberInfo))
  return message
}

const memberInfo = ({ id, endpoint, role, isAlive }: Member): MemberInfo => {
  const address = new EndPoint()
  address.setAddress(endpoint.host)
  address.setPort(endpoint.port)
  const message = new MemberInfo()
  message.setInstanceId(uuidOf(id))
  message.setTimeStamp('17000000000000000')
  message.setState(stateOf[role])
  message.setIsAlive(isAlive)
  message.setHttpEndPoint(address)
  return message
}

const stateOf = {
  leader: MemberInfo.VNodeState.LEADER,
  follower: MemberInfo.VNodeState.FOLLOWER,
  leaderless: MemberInfo.VNodeState.UNKNOWN,
} as const
