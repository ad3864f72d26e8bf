import { Empty } from '@eventstore/db-client/generated/shared_pb'
import { type AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb'
import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js'
import { nameOf, proposedEvent } from './messages.ts'
import { performAppend } from './perform-append.ts'
import {
  accessDeniedError,
  callError,
  isAuthorized,
  type LogNode,
  notReadyError,
  refusalOfCall,
} from './server-node.ts'
import type { Append, Judgement, ProposedEvent } from './state.ts'

/**
 * Serves one append per call. The official client does this for an append with credentials of its own, and uses an
 * append stream for all others.
 */
export const serveSingleAppend =
  (node: LogNode) =>
  (call: ServerReadableStream<AppendReq, AppendResp>, reply: sendUnaryData<AppendResp>): void => {
    let options: AppendReq.Options | undefined
    const events: ProposedEvent[] = []
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions()
      const message = request.getProposedMessage()
      if (message !== undefined) events.push(proposedEvent(message))
    })
    call.on('end', async () => {
      const refusal = refusalOfCall(node, call.metadata) ?? refusalOfAppend(node, events)
      if (refusal !== null) return reply(refusal)
      if (!isAuthorized(node, call.metadata)) return reply(accessDeniedError())

      const append = { stream: nameOf(options?.getStreamIdentifier()), expected: expectedOf(options), events }
      const verdict = await performAppend(node, append)
      if (verdict === null || call.cancelled) return
      if (verdict.outcome === 'not_ready') return reply(notReadyError())
      if (verdict.outcome === 'timeout') return reply(callError(status.ABORTED, 'Operation timed out: '))
      if (verdict.outcome === 'no_space') return reply(callError(status.UNKNOWN, 'No space left on device'))
      if (verdict.outcome === 'clean_end') return reply(callError(status.CANCELLED, 'Cancelled'))
      reply(null, response(append.expected, verdict))
    })
  }

const refusalOfAppend = ({ faults }: LogNode, events: readonly ProposedEvent[]) => {
  const bytesMax = faults.appendBytesMax
  if (events.reduce((sum, { data }) => sum + data.length, 0) <= bytesMax) return null
  return callError(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytesMax} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytesMax),
  })
}

const expectedOf = (options: AppendReq.Options | undefined): Append['expected'] => {
  if (options === undefined || options.hasAny()) return 'any'
  if (options.hasNoStream()) return 'none'
  return options.hasStreamExists() ? 'exists' : Number(options.getRevision())
}

const response = (expected: Append['expected'], judgement: Judgement): AppendResp => {
  const answer = new AppendResp()
  if (judgement.outcome === 'success') answer.setSuccess(success(judgement.revision, judgement.position))
  else answer.setWrongExpectedVersion(wrongRevision(expected, judgement.currentRevision))
  return answer
}

const success = (revision: number, logPosition: number): AppendResp.Success => {
  const position = new AppendResp.Position()
  position.setCommitPosition(String(logPosition))
  position.setPreparePosition(String(logPosition))
  const message = new AppendResp.Success()
  message.setCurrentRevision(String(revision))
  message.setPosition(position)
  return message
}

const wrongRevision = (expected: Append['expected'], current: number | null): AppendResp.WrongExpectedVersion => {
  const message = new AppendResp.WrongExpectedVersion()
  if (current === null) message.setCurrentNoStream(new Empty())
  else message.setCurrentRevision(String(current))
  if (expected === 'none') message.setExpectedNoStream(new Empty())
  else if (expected === 'exists') message.setExpectedStreamExists(new Empty())
  else if (expected === 'any') message.setExpectedAny(new Empty())
  else message.setExpectedRevision(String(expected))
  return message
}
