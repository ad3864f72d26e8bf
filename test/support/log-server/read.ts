import { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb'
import { type Metadata, type ServerWritableStream, status } from '@grpc/grpc-js'
import { wantedBy } from './filter.ts'
import { eventResponse, identifierOf, nameOf } from './messages.ts'
import {
  accessDeniedError,
  callError,
  isAuthorized,
  type LogNode,
  notReadyError,
  refusalOfCall,
} from './server-node.ts'
import type { LogState, StoredEvent } from './state.ts'
import { subscribe } from './subscribe.ts'

export const serveRead =
  (node: LogNode) =>
  (call: ServerWritableStream<ReadReq, ReadResp>): void => {
    const options = call.request.getOptions()
    const refusal = refusalOfCall(node, call.metadata)
    if (refusal !== null) call.emit('error', refusal)
    else if (!isAuthorized(node, call.metadata) || node.faults.denies(options?.hasStream() ? 'stream' : 'all'))
      call.emit('error', accessDeniedError())
    else if (!node.faults.isReady() || lacksLeader(node, call.metadata)) call.emit('error', notReadyError())
    else if (options === undefined) call.emit('error', callError(status.INVALID_ARGUMENT, 'no options'))
    else if (options.hasSubscription()) subscribe(node, call, options)
    else void answerRead(node, call, options)
  }

/** True if the client requires a leader and there is none. Other reads are still served. */
const lacksLeader = (node: LogNode, metadata: Metadata): boolean =>
  node.role() === 'leaderless' && metadata.get('requires-leader').includes('true')

const answerRead = async (
  node: LogNode,
  call: ServerWritableStream<ReadReq, ReadResp>,
  options: ReadReq.Options,
): Promise<void> => {
  const stream = options.getStream()
  if (stream === undefined) await node.faults.beforeReadOfAll?.()
  const events = stream === undefined ? readAll(node.state, options) : readStream(node, stream, options)
  if (events === 'broken_position') {
    call.emit('error', callError(status.UNKNOWN, 'Unexpected ReadAllResult: Error'))
    return
  }
  if (events === null) call.write(streamNotFound(nameOf(stream?.getStreamIdentifier())))
  let passed = 0
  for (const event of events ?? []) {
    if (event === 'passed') await node.faults.passing?.(++passed)
    else call.write(eventResponse(event))
  }
  call.end()
}

const isBackwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === ReadReq.Options.ReadDirection.BACKWARDS

const readStream = (
  { state, faults }: LogNode,
  from: ReadReq.Options.StreamOptions,
  options: ReadReq.Options,
): readonly StoredEvent[] | null => {
  const name = nameOf(from.getStreamIdentifier())
  const written = state.stream(name)
  if (written === null) return null
  const events = written.slice(0, Math.max(0, written.length - faults.unindexed(name)))
  const count = Number(options.getCount())
  const firstRevision = events[0]?.revision ?? 0
  const at = from.hasRevision() ? Number(from.getRevision()) - firstRevision : from.hasEnd() ? events.length : 0
  if (!isBackwards(options)) return events.slice(Math.max(0, at), Math.max(0, at) + count)
  const end = Math.min(at + 1, events.length)
  return end <= 0 ? [] : events.slice(Math.max(0, end - count), end).reverse()
}

/** A read forwards includes the event at its position. A read backwards begins with the event before. */
const readAll = (state: LogState, options: ReadReq.Options): Iterable<StoredEvent | 'passed'> | 'broken_position' => {
  const from = options.getAll()
  const position = from?.getPosition()
  const commit =
    position === undefined ? (from?.hasEnd() ? state.endPosition : 0) : Number(position.getCommitPosition())
  if (!state.isBoundary(commit)) return 'broken_position'
  return eventsFrom(state, options, commit)
}

function* eventsFrom(state: LogState, options: ReadReq.Options, commit: number): Generator<StoredEvent | 'passed'> {
  const wants = wantedBy(options.getFilter())
  const step = isBackwards(options) ? -1 : 1
  let left = Number(options.getCount())
  let index = isBackwards(options) ? state.indexFrom(commit) - 1 : state.indexFrom(commit)
  // Like a real server, ends a filtered read only at the end of the log, or at one wanted event more.
  for (; ; index += step) {
    const event = state.all[index]
    if (event === undefined || (left === 0 && wants(event))) return
    if (wants(event)) left -= 1
    yield wants(event) ? event : 'passed'
  }
}

const streamNotFound = (stream: string): ReadResp => {
  const notFound = new ReadResp.StreamNotFound()
  notFound.setStreamIdentifier(identifierOf(stream))
  const response = new ReadResp()
  response.setStreamNotFound(notFound)
  return response
}
