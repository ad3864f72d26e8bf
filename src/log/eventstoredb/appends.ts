import { troubleLookMs } from '../../limits.ts'
import { AppendFigures } from '../append-figures.ts'
import { type ExpectedRevision, Outage } from '../event-log.ts'
import type { LogTroubles } from '../log-troubles.ts'
import { QueueRoom } from '../queue-room.ts'
import { type AppendAnswer, AppendStream } from './append-stream.ts'
import type { Connection } from './connection.ts'
import type { Link } from './store-link.ts'

export const eventStoreAppendsOutMax = 64
/** `troubleLookMs` must be a multiple of this time. */
const eventStoreLookMs = 100

export type StoreAppend = {
  readonly streamName: string
  readonly expected: ExpectedRevision
  readonly events: number
  readonly isTraffic: boolean
  readonly run: Buffer
}

export type Appended =
  /** Unless `isNew`, an earlier try could have written the events, so the caller must read them. */
  | { readonly outcome: 'stored'; readonly isNew: boolean; readonly position: number | null }
  | { readonly outcome: 'conflict'; readonly currentRevision: number | null }

type Waiting = StoreAppend & {
  readonly waitingSinceMs: number
  seenBefore: number
  resolve(appended: Appended): void
  reject(outage: Outage): void
}

/**
 * Each stream has at most one unanswered append; later ones wait in a bounded queue. Without a leader, appends are refused
 * at once.
 */
export class Appends {
  readonly #connection: Connection
  #stream: AppendStream | null = null
  /** By stream with an unanswered append. While the list exists, even empty, a new append to the stream must wait. */
  readonly #behind = new Map<string, Waiting[]>()
  /** The next append of each stream, in order of arrival. */
  #ready: Waiting[] = []
  #out = 0
  readonly room = new QueueRoom()
  readonly figures = new AppendFigures()
  /** The highest position seen. If an answer names no higher one, an earlier try may have written the events. */
  #seen = -1
  #drained: (() => void) | null = null
  readonly #timer: ReturnType<typeof setInterval>
  readonly #troubles: LogTroubles
  #looks = 0

  constructor(connection: Connection, troubles: LogTroubles) {
    this.#connection = connection
    this.#troubles = troubles
    connection.listen({ onUp: (link) => this.#begin(link), onAway: (why) => this.#stop(why) })
    if (connection.link !== null) this.#begin(connection.link)
    this.#timer = setInterval(() => this.#look(), eventStoreLookMs)
    this.#timer.unref()
  }

  see(position: number): void {
    if (position > this.#seen) this.#seen = position
  }

  append(append: StoreAppend): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.#stream === null) {
        throw new Outage(`Cannot append: the store is away: ${this.#connection.why}`, 'not_written', 'unavailable')
      }
      const { streamName, events, isTraffic, run } = append
      this.#troubles.takeRoom(this.room, streamName, { events, bytes: run.length, isTraffic })
      const waiting = { ...append, waitingSinceMs: performance.now(), seenBefore: -1, resolve, reject }
      const behind = this.#behind.get(streamName)
      if (behind !== undefined) behind.push(waiting)
      else {
        this.#behind.set(streamName, [])
        this.#ready.push(waiting)
        this.#sendReady()
      }
    })
  }

  async close(): Promise<void> {
    if (this.#behind.size > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve
      })
    }
    clearInterval(this.#timer)
    this.#stream?.end('the log is closed')
    this.#stream = null
  }

  #begin(link: Link): void {
    this.#stream = new AppendStream(link, ({ why, leader }) => this.#connection.lose(link, why, leader))
  }

  /** Rejects the appends that were not sent yet. `stream.end` rejects the sent ones with `unknown`: they can be stored. */
  #stop(why: string): void {
    const stream = this.#stream
    this.#stream = null
    const waiting = [...this.#ready, ...[...this.#behind.values()].flat()]
    this.#ready = []
    for (const behind of this.#behind.values()) behind.length = 0
    for (const append of waiting) {
      this.#leaveQueue(append)
      append.reject(new Outage(`Cannot append: the store went away: ${why}`, 'not_written', 'unavailable'))
    }
    stream?.end(why)
    // Unsent appends get no answer that would start the next one.
    for (const { streamName } of waiting) this.#next(streamName)
  }

  #look(): void {
    const { link } = this.#connection
    if (this.#stream?.expire() === true && link !== null) this.#connection.lose(link, 'it does not answer')
    this.#looks += 1
    if (this.#looks % (troubleLookMs / eventStoreLookMs) === 0) this.#troubles.look()
  }

  #sendReady(): void {
    while (this.#stream !== null && this.#out < eventStoreAppendsOutMax) {
      const next = this.#ready.shift()
      if (next === undefined) return
      this.#send(this.#stream, next)
    }
  }

  #send(stream: AppendStream, append: Waiting): void {
    this.#leaveQueue(append)
    this.#out += 1
    append.seenBefore = this.#seen
    const { streamName, expected, run, events, waitingSinceMs } = append
    const answered = this.figures.sent(events, waitingSinceMs, performance.now())
    const settle = (answer: AppendAnswer): void => {
      answered(performance.now())
      this.#settle(append, answer)
    }
    stream.send({ streamName, expected, run, settle })
  }

  #settle(append: Waiting, answer: AppendAnswer): void {
    this.#out -= 1
    const { link } = this.#connection
    if (answer.kind === 'turned_away' && link !== null) this.#connection.lose(link, answer.why)
    if (answer.kind === 'denied' && link !== null) void this.#connection.check(link)
    this.#note(append, answer)
    this.#answer(append, answer)
    this.#next(append.streamName)
    this.#sendReady()
  }

  #note({ isTraffic }: Waiting, answer: AppendAnswer): void {
    if (answer.kind === 'stored') this.#troubles.written({ hasReadings: isTraffic })
    else if (answer.kind === 'full') this.#troubles.appendFailed('full', answer.why)
    else if (answer.kind !== 'conflict') this.#troubles.appendFailed('unavailable', answer.why)
  }

  #answer(append: Waiting, answer: AppendAnswer): void {
    switch (answer.kind) {
      case 'stored': {
        const { position } = answer
        const isNew = position !== null && position > append.seenBefore
        if (position !== null) this.see(position)
        append.resolve({ outcome: 'stored', isNew, position })
        return
      }
      case 'conflict':
        append.resolve({ outcome: 'conflict', currentRevision: answer.currentRevision })
        return
      case 'turned_away':
      case 'denied':
        append.reject(new Outage(`Cannot append: ${answer.why}`, 'not_written', 'unavailable'))
        return
      case 'full':
        append.reject(new Outage(`Cannot append: ${answer.why}`, 'not_written', 'full'))
        return
      case 'failed':
        append.reject(new Outage(`Cannot append: ${answer.why}`, answer.outcome, 'unavailable'))
    }
  }

  #next(streamName: string): void {
    const behind = this.#behind.get(streamName)
    const next = behind?.shift()
    if (next !== undefined) this.#ready.push(next)
    else this.#behind.delete(streamName)
    if (this.#behind.size === 0) this.#drained?.()
  }

  #leaveQueue({ events, run }: Waiting): void {
    this.room.leave({ events, bytes: run.length })
  }
}
