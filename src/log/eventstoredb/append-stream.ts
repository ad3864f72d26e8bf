import { randomUUID } from 'node:crypto'
import { type UUID, WrongExpectedVersion } from '@eventstore/db-client/generated/shared_pb'
import { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { EventStoreEndpoint } from '../../eventstore-url.ts'
import type { ExpectedRevision } from '../event-log.ts'
import { callFaultOf } from './call-faults.ts'
import type { Link } from './store-link.ts'
import { encodeAppend } from './wire.ts'

/**
 * In an election, EventStoreDB sometimes never answers. A second try must fit into `requestWaitMsMax`
 * (docs/decisions/002-eventstoredb-without-its-client-object.md).
 */
const eventStoreAppendMsMax = 2_000

export type AppendAnswer =
  /** `position` is the last event's. `null`: the server has not named it. A repeated append gets the same answer. */
  | { readonly kind: 'stored'; readonly position: number | null }
  | { readonly kind: 'conflict'; readonly currentRevision: number | null }
  | { readonly kind: 'failed'; readonly outcome: 'not_written' | 'unknown'; readonly why: string }
  | { readonly kind: 'full'; readonly why: string }
  /** Not the leader: it would refuse every append. */
  | { readonly kind: 'turned_away'; readonly why: string }
  | { readonly kind: 'denied'; readonly why: string }

export type SentAppend = {
  readonly streamName: string
  readonly expected: ExpectedRevision
  readonly run: Buffer
  /** Called exactly once, even without an answer. */
  settle(answer: AppendAnswer): void
}

export type AppendStreamEnd = { readonly why: string; readonly leader: EventStoreEndpoint | null }

/**
 * When this gRPC stream ends, nobody knows whether its unanswered appends are stored. Later ones are refused here: gRPC
 * would lose them silently.
 */
export class AppendStream {
  readonly #call: ClientDuplexStream<Buffer, BatchAppendResp>
  readonly #onEnd: (end: AppendStreamEnd) => void
  /** The oldest first, by the correlation id of the answer. */
  readonly #out = new Map<string, { readonly sent: SentAppend; readonly sentMs: number }>()
  #lastAnswerMs = 0
  #isEnded = false

  constructor(link: Link, onEnd: (end: AppendStreamEnd) => void) {
    this.#onEnd = onEnd
    this.#call = link.streams.makeBidiStreamRequest(
      '/event_store.client.streams.Streams/BatchAppend',
      (request: Buffer) => request,
      (bytes: Buffer) => BatchAppendResp.deserializeBinary(bytes),
      link.metadata('leader'),
      {},
    )
    this.#call.on('data', (response: BatchAppendResp) => this.#answered(response))
    this.#call.on('error', (error: unknown) => {
      const fault = callFaultOf(error)
      this.#ended({ why: fault.why, leader: fault.kind === 'not_leader' ? fault.leader : null })
    })
    this.#call.on('end', () => this.#ended({ why: 'it has ended the append stream', leader: null }))
  }

  send(sent: SentAppend): void {
    if (this.#isEnded) {
      sent.settle({ kind: 'failed', outcome: 'not_written', why: 'the append stream has ended' })
      return
    }
    const correlationId = randomUUID()
    this.#out.set(correlationId, { sent, sentMs: performance.now() })
    this.#call.write(encodeAppend(correlationId, sent, sent.run))
  }

  /** Late appends become `unknown`. True: the server has answered nothing since one was sent, so it may hang. */
  expire(): boolean {
    const now = performance.now()
    let isSilent = false
    for (const [correlationId, { sent, sentMs }] of this.#out) {
      if (now - sentMs < eventStoreAppendMsMax) break
      isSilent ||= this.#lastAnswerMs < sentMs
      this.#out.delete(correlationId)
      sent.settle({ kind: 'failed', outcome: 'unknown', why: `no answer in ${eventStoreAppendMsMax} ms` })
    }
    return isSilent
  }

  end(why: string): void {
    this.#call.cancel()
    this.#ended({ why, leader: null })
  }

  #answered(response: BatchAppendResp): void {
    this.#lastAnswerMs = performance.now()
    const correlationId = uuidText(response.getCorrelationId())
    const out = this.#out.get(correlationId)
    // `expire` has settled this append already.
    if (out === undefined) return
    this.#out.delete(correlationId)
    out.sent.settle(answerIn(response))
  }

  #ended(end: AppendStreamEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const out = [...this.#out.values()]
    this.#out.clear()
    // Before `settle`, which makes room for an append that must not go to this ended stream.
    this.#onEnd(end)
    for (const { sent } of out) sent.settle({ kind: 'failed', outcome: 'unknown', why: end.why })
  }
}

const answerIn = (response: BatchAppendResp): AppendAnswer => {
  const success = response.getSuccess()
  if (success !== undefined) return { kind: 'stored', position: positionOf(success.getPosition()?.getCommitPosition()) }
  const error = response.getError()
  const details = error?.getDetails()
  const type = details?.getTypeName() ?? ''
  switch (type) {
    case 'event_store.client.WrongExpectedVersion': {
      const conflict = unpacked(() => details?.unpack(WrongExpectedVersion.deserializeBinary, type))
      if (conflict === null) return failureOf('the server refused it in words that can not be read')
      const isThere = conflict.hasCurrentStreamRevision() === true
      return { kind: 'conflict', currentRevision: isThere ? Number(conflict.getCurrentStreamRevision()) : null }
    }
    case 'event_store.client.MaximumAppendSizeExceeded':
      return { kind: 'failed', outcome: 'not_written', why: 'the append is larger than the server takes' }
    case 'event_store.client.AccessDenied':
      return { kind: 'denied', why: 'the server denies access' }
    default:
      return failureOf(error?.getMessage() || type || 'the server did not say why')
  }
}

/** `null` if the gRPC library throws: in an event handler, that would end the process. */
const unpacked = <T>(unpack: () => T | null | undefined): T | null => {
  try {
    return unpack() ?? null
  } catch {
    return null
  }
}

/** After an unexpected message, such as a timeout, the events can be stored. */
const failureOf = (why: string): AppendAnswer => {
  if (/no space left|not enough space|disk (is )?full/i.test(why)) return { kind: 'full', why }
  if (why.includes('Server Is Busy')) return { kind: 'failed', outcome: 'not_written', why }
  const isTurnedAway = why.includes('Server Is Not Ready') || why.includes('No leader info')
  return isTurnedAway ? { kind: 'turned_away', why } : { kind: 'failed', outcome: 'unknown', why }
}

/** -1: a repeated append whose events are not in the index yet. */
const positionOf = (text: string | undefined): number | null => {
  const position = text === undefined ? Number.NaN : Number(text)
  return Number.isSafeInteger(position) && position >= 0 ? position : null
}

/** EventStoreDB can send a UUID as text or as two 64-bit numbers. */
const uuidText = (id: UUID | undefined): string => {
  const structured = id?.getStructured()
  if (structured === undefined) return id?.getString() ?? ''
  const halves = [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
  const hex = halves.map((half) => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
