/**
 * Appends with the official client and without the service, for comparison. Each line of stdin is a `Shape`. Prints how
 * many events per second the store acknowledged.
 */
import {
  type AppendExpectedRevision,
  EventStoreDBClient,
  type JSONEventType,
  jsonEvent,
  NO_STREAM,
} from '@eventstore/db-client'
import { readingsStream } from '../../src/domain/stream-names.ts'
import { systemEntropy } from '../../src/entropy.ts'

export type Shape = {
  readonly streams: number
  /** Each poster posts again after its answer. The posters are spread evenly over the streams. */
  readonly posters: number
  readonly eventsPerPost: number
  readonly seconds: number
}

type Reading = JSONEventType<
  'ReadingAccepted',
  Readonly<Record<string, string | number>>,
  { readonly recordedAt: number }
>
type Post = { readonly events: readonly ReturnType<typeof reading>[]; readonly answered: () => void }

const url = process.env['EVENTSTORE_URL'] ?? ''
const prefix = process.env['EVENTSTORE_PREFIX'] ?? ''
const client = EventStoreDBClient.connectionString(url)

const reading = (index: number) =>
  jsonEvent<Reading>({
    id: systemEntropy.uuid(),
    type: 'ReadingAccepted',
    data: {
      cellar: 'wine-berlin1',
      rack: `rack-${String(index % 10_000).padStart(4, '0')}`,
      keg: 'temperature',
      value: 18 + index / 7,
      timestamp: '2026-03-01T12:00:00Z',
    },
    metadata: { recordedAt: Date.now() },
  })

/**
 * Like in the service, a stream has at most one append under way. All events that wait meanwhile go into the next
 * append.
 */
class Stream {
  acknowledged = 0
  #expected: AppendExpectedRevision = NO_STREAM
  #waiting: Post[] = []
  #isOut = false

  constructor(readonly name: string) {}

  post(events: Post['events']): Promise<void> {
    return new Promise((answered) => {
      this.#waiting.push({ events, answered })
      if (!this.#isOut) void this.#send()
    })
  }

  async #send(): Promise<void> {
    this.#isOut = true
    // Waits, so that all events of this turn go into one append.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const posts = this.#waiting
      this.#waiting = []
      const events = posts.flatMap((post) => post.events)
      const written = await client.appendToStream(this.name, events, { expectedRevision: this.#expected })
      this.#expected = written.nextExpectedRevision
      this.acknowledged += events.length
      // The posters get their answers only after the next append was sent, as remote clients would.
      setImmediate(() => {
        for (const post of posts) post.answered()
      })
    }
    this.#isOut = false
  }
}

let runs = 0

const run = async (shape: Shape): Promise<number> => {
  runs += 1
  const streams = Array.from({ length: shape.streams }, (_, index) => {
    const name = `${prefix}${readingsStream(`bare${runs}x${String(index).padStart(3, '0')}`)}`
    return new Stream(name)
  })
  const start = performance.now()
  const end = start + shape.seconds * 1_000
  const poster = async (stream: Stream, first: number): Promise<void> => {
    for (let index = first; performance.now() < end; index++) {
      await stream.post(Array.from({ length: shape.eventsPerPost }, (_, event) => reading(index + event)))
    }
  }
  const posters = Array.from({ length: shape.posters }, (_, index) => {
    const stream = streams[index % streams.length]
    return stream === undefined ? Promise.resolve() : poster(stream, index)
  })
  await Promise.all(posters)
  const seconds = (performance.now() - start) / 1_000
  return streams.reduce((sum, { acknowledged }) => sum + acknowledged, 0) / seconds
}

for await (const line of console) console.log(await run(JSON.parse(line)))
