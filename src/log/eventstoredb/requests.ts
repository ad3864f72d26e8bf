import { Empty, StreamIdentifier } from '@eventstore/db-client/generated/shared_pb'
import { ReadReq } from '@eventstore/db-client/generated/streams_pb'
import type { ClientReadableStream } from '@grpc/grpc-js'
import { eventStoreRetryPauseMs } from '../../limits.ts'
import { decodeResponse } from './responses.ts'
import { deadlineIn, type Link } from './store-link.ts'
import type { StoredEvent } from './stored-events.ts'

export const eventStoreSearchWindowEvents = 1_024

type Page = { readonly from: number | null; readonly limit: number }

/** Includes the event at `from`; `null` begins with the first event. */
export const readForwards = (streamName: string, page: Page): ReadReq => readStream(streamName, page, 0)
/** Includes the event at `from`; `null` begins with the last event. */
export const readBackwards = (streamName: string, page: Page): ReadReq => readStream(streamName, page, 1)

const readStream = (streamName: string, { from, limit }: Page, direction: 0 | 1): ReadReq => {
  const stream = new ReadReq.Options.StreamOptions()
  stream.setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(streamName)))
  if (from !== null) stream.setRevision(String(from))
  else if (direction === 0) stream.setStart(new Empty())
  else stream.setEnd(new Empty())
  const options = new ReadReq.Options().setStream(stream).setNoFilter(new Empty())
  return requestOf(options.setReadDirection(direction).setCount(String(limit)))
}

/** `null`: all streams. The event at `from` is included forwards, and not backwards. */
export const readAll = (
  { from, limit }: Page,
  direction: 'forwards' | 'backwards',
  prefixes: readonly string[] | null,
): ReadReq => {
  const options = new ReadReq.Options().setAll(allFrom(from, direction)).setCount(String(limit))
  return requestOf(filtered(options.setReadDirection(direction === 'forwards' ? 0 : 1), prefixes))
}

/** `after` is a position; `null`: all. */
export const subscribeToAll = (after: number | null, prefixes: readonly string[]): ReadReq => {
  const options = new ReadReq.Options().setAll(allFrom(after, 'forwards'))
  return requestOf(filtered(options.setSubscription(new ReadReq.Options.SubscriptionOptions()), prefixes))
}

const allFrom = (position: number | null, direction: 'forwards' | 'backwards'): ReadReq.Options.AllOptions => {
  const all = new ReadReq.Options.AllOptions()
  if (position === null) return direction === 'forwards' ? all.setStart(new Empty()) : all.setEnd(new Empty())
  const at = new ReadReq.Options.Position().setCommitPosition(String(position)).setPreparePosition(String(position))
  return all.setPosition(at)
}

const filtered = (options: ReadReq.Options, prefixes: readonly string[] | null): ReadReq.Options => {
  if (prefixes === null) return options.setNoFilter(new Empty())
  const names = new ReadReq.Options.FilterOptions.Expression().setPrefixList([...prefixes])
  const filter = new ReadReq.Options.FilterOptions().setStreamIdentifier(names).setMax(eventStoreSearchWindowEvents)
  return options.setFilter(filter.setCheckpointintervalmultiplier(1))
}

const requestOf = (options: ReadReq.Options): ReadReq => {
  const ids = new ReadReq.Options.UUIDOption()
  ids.setString(new Empty())
  return new ReadReq().setOptions(options.setUuidOption(ids))
}

export type Reading = {
  readonly events: readonly StoredEvent[]
  /** Rejects with an error of the gRPC library, or with `MalformedAnswer`. */
  readonly ended: Promise<void>
  cancel(): void
}

type ReadOf = { readonly of: 'leader' | 'any'; readonly msMax: number }

export const beginRead = (link: Link, request: ReadReq, { of, msMax }: ReadOf): Reading => {
  const events: StoredEvent[] = []
  const options = request.getOptions()
  const limit = options?.hasFilter() === true ? Number(options.getCount()) : null
  const answers: ClientReadableStream<Buffer> = link.streams.makeServerStreamRequest(
    '/event_store.client.streams.Streams/Read',
    (message: ReadReq) => Buffer.from(message.serializeBinary()),
    (bytes: Buffer) => bytes,
    request,
    link.metadata(of),
    { deadline: deadlineIn(msMax) },
  )
  const letGo = link.hold(answers)
  const ended = new Promise<void>((resolve, reject) => {
    answers.on('data', (bytes: Buffer) => {
      try {
        const response = decodeResponse(bytes)
        if (response.kind === 'event') events.push(response.event)
        if (events.length === limit) {
          // EventStoreDB goes on until it meets one more event, which can take minutes.
          resolve()
          setTimeout(() => answers.cancel(), eventStoreRetryPauseMs).unref()
        }
      } catch (cause) {
        // An error inside this event handler would end the process.
        reject(cause)
        answers.cancel()
      }
    })
    answers.on('error', (cause) => {
      letGo()
      reject(cause)
    })
    answers.on('end', () => {
      letGo()
      resolve()
    })
  })
  return { events, ended, cancel: () => answers.cancel() }
}

/** @throws the errors of `Reading` */
export const readEvents = async (link: Link, request: ReadReq, readOf: ReadOf): Promise<readonly StoredEvent[]> => {
  const { events, ended } = beginRead(link, request, readOf)
  await ended
  return events
}
