import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { Faults } from './server-faults.ts'
import type { LogState } from './state.ts'

export type Endpoint = { readonly host: string; readonly port: number }

/** `leaderless` means that the cluster has no leader now, so the server refuses appends. */
export type Role = 'leader' | 'follower' | 'leaderless'

export type Credentials = { readonly username: string; readonly password: string }

export type LogNode = {
  readonly state: LogState
  readonly faults: Faults
  /** The only user who has access. `null` means that everybody has. */
  readonly user: Credentials | null
  role(): Role
  leader(): Endpoint | null
  /** The number of this start of the server. An append that was waiting at an earlier start is dropped. */
  life(): number
  cutConnections(): void
}

export const refusalOfCall = (node: LogNode, metadata: Metadata): ServiceError | null => {
  if (node.user !== null && metadata.get('authorization').length > 0 && !isAuthorized(node, metadata)) {
    return callError(status.UNAUTHENTICATED, 'Unauthenticated')
  }
  const leader = node.leader()
  if (node.role() === 'follower' && leader !== null && metadata.get('requires-leader').includes('true')) {
    return callError(status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': leader.host,
      'leader-endpoint-port': String(leader.port),
    })
  }
  return null
}

export const isAuthorized = ({ user }: LogNode, metadata: Metadata): boolean => {
  if (user === null) return true
  const expected = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`
  return metadata.get('authorization').includes(expected)
}

export const accessDeniedError = (): ServiceError =>
  callError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })

export const notReadyError = (): ServiceError => callError(status.UNAVAILABLE, 'Server Is Not Ready')

/** `facts` are sent as trailers, the headers at the end of a gRPC answer. The client tells refusals apart by them. */
export const callError = (
  code: status,
  details: string,
  facts: Readonly<Record<string, string>> = {},
): ServiceError => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(facts)) metadata.set(name, value)
  return Object.assign(new Error(details), { code, details, metadata })
}
