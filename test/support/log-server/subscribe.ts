import { type ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb'
import { type ServerWritableStream, status } from '@grpc/grpc-js'
import { wantedBy } from './filter.ts'
import { checkpointResponse, eventResponse, nameOf } from './messages.ts'
import { callError, type LogNode } from './server-node.ts'
import type { LogState, StoredEvent } from './state.ts'

type Call = ServerWritableStream<ReadReq, ReadResp>

/**
 * By default, a filtered subscription gets a position after this many events. EventStoreDB calls it a checkpoint. The
 * client can resume there, so the server need not filter the skipped events again.
 */
const searchWindowEvents = 32

/** If more answers wait for a slow client, the server sends no more until the client has read them. */
const responsesWaitingMax = 1_000

export const subscribe = (node: LogNode, call: Call, options: ReadReq.Options): void => {
  const { state, faults } = node
  const filter = options.getFilter()
  const wants = wantedBy(filter)
  const checkpointEvery = filter === undefined ? Number.POSITIVE_INFINITY : checkpointInterval(filter)
  const next = cursorOf(state, options)
  let considered = 0
  let isCaughtUp = false
  let isBlocked = false
  let isPlanned = false

  const send = (response: ReadResp): void => {
    call.write(response)
    isBlocked = call.writableLength > responsesWaitingMax
  }
  const pump = (): void => {
    isPlanned = false
    while (!isBlocked && !call.cancelled && !call.writableEnded) {
      const event = faults.isCutOff ? undefined : next()
      if (event === undefined) {
        if (!isCaughtUp) send(caughtUp())
        isCaughtUp = true
        return
      }
      if (wants(event)) send(eventResponse(event))
      considered += 1
      if (considered % checkpointEvery === 0) send(checkpointResponse(event.position))
    }
  }
  // Delivers in a later turn, so that an append never waits for subscribers.
  const plan = (): void => {
    if (!isPlanned) setImmediate(pump)
    isPlanned = true
  }
  const ends = [
    state.onAppended(plan),
    faults.onDrop((why) => {
      end()
      call.emit('error', callError(status.ABORTED, `Operation timed out: ${why}. Client resubscription required.`))
    }),
  ]
  const end = (): void => {
    for (const stop of ends) stop()
  }
  call.on('drain', () => {
    isBlocked = false
    plan()
  })
  call.on('cancelled', () => {
    end()
    call.end()
  })
  send(confirmation())
  plan()
}

/** Returns the next event at each call. `undefined` means that there is none yet. */
const cursorOf = (state: LogState, options: ReadReq.Options): (() => StoredEvent | undefined) => {
  const stream = options.getStream()
  if (stream === undefined) return allCursor(state, options.getAll())
  const name = nameOf(stream.getStreamIdentifier())
  const last = state.stream(name)?.at(-1)?.revision ?? -1
  let after = stream.hasRevision() ? Number(stream.getRevision()) : stream.hasEnd() ? last : -1
  return () => {
    const event = state.stream(name)?.find(({ revision }) => revision > after)
    after = event?.revision ?? after
    return event
  }
}

const allCursor = (state: LogState, from: ReadReq.Options.AllOptions | undefined): (() => StoredEvent | undefined) => {
  let position = from?.hasEnd() ? state.endPosition : 0
  const given = from?.getPosition()
  if (given !== undefined) {
    // Like a real server, skips the first event at or after the position. If no event is exactly there, the client
    // misses one event.
    const passed = state.all[state.indexFrom(Number(given.getCommitPosition()))]
    position = passed === undefined ? state.endPosition : passed.position + 1
  }
  return () => {
    const event = state.all[state.indexFrom(position)]
    if (event !== undefined) position = event.position + 1
    return event
  }
}

const checkpointInterval = (filter: ReadReq.Options.FilterOptions): number =>
  (filter.hasMax() ? filter.getMax() : searchWindowEvents) * filter.getCheckpointintervalmultiplier()

const confirmation = (): ReadResp => {
  const confirmed = new ReadResp.SubscriptionConfirmation()
  confirmed.setSubscriptionId(crypto.randomUUID())
  const response = new ReadResp()
  response.setConfirmation(confirmed)
  return response
}

const caughtUp = (): ReadResp => {
  const response = new ReadResp()
  response.setCaughtUp(new ReadResp.CaughtUp())
  return response
}
