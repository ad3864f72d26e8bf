import type { Status } from '@eventstore/db-client/generated/status_pb'
import { type BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import {
  accessDenied,
  appendTooLarge,
  identifierOf,
  nameOf,
  noSpace,
  notReady,
  positionOf,
  proposedEvent,
  timedOut,
  uuidOf,
  wrongRevision,
} from './messages.ts'
import { performAppend } from './perform-append.ts'
import { isAuthorized, type LogNode, refusalOfCall } from './server-node.ts'
import type { Append, Judgement, ProposedEvent } from './state.ts'

/**
 * Serves an append stream: many appends over one call. An append comes in one or several messages, and answers come in
 * any order.
 */
export const serveBatchAppend =
  (node: LogNode) =>
  (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const refusal = refusalOfCall(node, call.metadata)
    if (refusal !== null) {
      call.emit('error', refusal)
      return
    }
    const pieces = new Pieces()
    call.on('data', async (request: BatchAppendReq) => {
      const append = pieces.add(request)
      if (append === null) return
      const early = refusalOfAppend(node, append, isAuthorized(node, call.metadata) && !node.faults.denies('append'))
      if (early !== null || request.getIsFinal()) pieces.drop(append)
      if (early !== null) call.write(response(append, early))
      if (early !== null || !request.getIsFinal()) return
      // The node was not a follower when the call began, but it may have lost the leadership since.
      const late = refusalOfCall(node, call.metadata)
      if (late !== null) {
        call.emit('error', late)
        return
      }
      const verdict = await performAppend(node, append)
      if (verdict === null || call.cancelled) return
      if (verdict.outcome === 'clean_end') call.end()
      else if (verdict.outcome === 'not_ready') call.write(response(append, notReady()))
      else if (verdict.outcome === 'timeout') call.write(response(append, timedOut()))
      else if (verdict.outcome === 'no_space') call.write(response(append, noSpace()))
      else call.write(response(append, verdict))
    })
    call.on('end', () => call.end())
    // An error here means that the client has gone, so nobody waits for an answer. Without a listener, it would end the
    // test process.
    call.on('error', () => {})
  }

type Assembled = Append & { readonly id: string; readonly events: ProposedEvent[]; dataBytes: number }

class Pieces {
  readonly #assembled = new Map<string, Assembled>()

  /** Adds a message to its append. `null` means that the append was already refused, so the rest of it is ignored. */
  add(request: BatchAppendReq): Assembled | null {
    const id = request.getCorrelationId()?.getString() ?? ''
    const options = request.getOptions()
    if (options !== undefined) {
      const stream = nameOf(options.getStreamIdentifier())
      this.#assembled.set(id, { id, stream, expected: expectedOf(options), events: [], dataBytes: 0 })
    }
    const append = this.#assembled.get(id)
    if (append === undefined) return null
    for (const message of request.getProposedMessagesList()) {
      append.events.push(proposedEvent(message))
      append.dataBytes += message.getData_asU8().length
    }
    return append
  }

  drop({ id }: Assembled): void {
    this.#assembled.delete(id)
  }
}

const refusalOfAppend = ({ faults }: LogNode, { dataBytes }: Assembled, isAllowed: boolean): Status | null => {
  if (!isAllowed) return accessDenied()
  return dataBytes > faults.appendBytesMax ? appendTooLarge(faults.appendBytesMax) : null
}

const expectedOf = (options: BatchAppendReq.Options): Append['expected'] => {
  if (options.hasStreamPosition()) return Number(options.getStreamPosition())
  if (options.hasNoStream()) return 'none'
  return options.hasStreamExists() ? 'exists' : 'any'
}

const response = ({ id, stream, expected }: Assembled, result: Status | Judgement): BatchAppendResp => {
  const answer = new BatchAppendResp()
  answer.setCorrelationId(uuidOf(id))
  answer.setStreamIdentifier(identifierOf(stream))
  if (!('outcome' in result)) answer.setError(result)
  else if (result.outcome === 'wrong_expected_revision')
    answer.setError(wrongRevision(expected, result.currentRevision))
  else answer.setSuccess(success(result.revision, result.position))
  return answer
}

const success = (revision: number, position: number): BatchAppendResp.Success => {
  const message = new BatchAppendResp.Success()
  message.setCurrentRevision(String(revision))
  message.setPosition(positionOf(position))
  return message
}
