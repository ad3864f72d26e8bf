import type { Core } from '../../actors/core.ts'
import { type Schedule, systemSchedule } from '../../actors/schedule.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import { categoryOf, readingsStream } from '../../domain/streams.ts'
import { liveBytesWaitingMax, liveHeartbeatMs, livePushMs, liveStreamsMax } from '../../limits.ts'
import { type RequestLines, thrownError } from '../request-lines.ts'

/** What a page shows changes with: the readings of all, of one cellar or of one key. Other events change every page. */
export type Topic = { readonly cellar: string } | { readonly keyId: string } | 'all'

export type LivePage = {
  /** Pages of the same name show the same, and are rendered once for all who watch. */
  readonly name: string
  readonly topic: Topic
  /** `null`: nothing to show yet. */
  readonly render: () => Promise<string | null>
}

type Viewing = {
  readonly page: LivePage
  /** Whether the session is still open, and its role the same. */
  readonly isAllowed: () => boolean
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal
}

type Watcher = { readonly send: (text: string) => boolean; readonly end: () => void; readonly isAllowed: () => boolean }

type Watched = {
  readonly page: LivePage
  readonly watchers: Set<Watcher>
  /** Came since the last push, or could not take it. */
  readonly behind: Set<Watcher>
  isDirty: boolean
  lastText: string | null
}

/**
 * Everything that pages watch. Events do no more than mark what has changed, once the projections that pages are made of have
 * folded them, and only while somebody watches; twice a second what is marked is rendered, one page in each turn of the event
 * loop, so that readings never wait for pages. A page that a browser takes too slowly is skipped, not queued: each push is whole.
 */
export class LivePages {
  readonly #core: Core
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #watched = new Map<string, Watched>()
  #streams = 0
  #unfollow: (() => void) | null = null
  #isTicking = false
  #ticks = 0
  #isClosed = false

  constructor(core: Core, lines: RequestLines, schedule: Schedule = systemSchedule) {
    this.#core = core
    this.#lines = lines
    this.#schedule = schedule
  }

  /** How many streams are open. */
  get streams(): number {
    return this.#streams
  }

  /** A stream of that page's fragments; `null` if there are too many already, or the service is closing. */
  open(viewing: Viewing): ReadableStream<Uint8Array> | null {
    if (this.#isClosed || this.#streams >= liveStreamsMax) return null
    this.#streams += 1
    const watched = this.#watchedAs(viewing.page)
    const stream = eventStream(viewing, (watcher) => this.#leave(watched, watcher))
    watched.watchers.add(stream.watcher)
    // The page was made a moment ago, and something may have come since.
    watched.behind.add(stream.watcher)
    watched.isDirty = true
    this.#unfollow ??= this.#core.onFolded((events) => this.#mark(events))
    if (!this.#isTicking) this.#tickLater()
    return stream.body
  }

  /** Ends every stream, so that the server can stop, and opens no more. The pages ask again when there is a service again. */
  close(): void {
    this.#isClosed = true
    for (const { watchers } of this.#watched.values()) for (const watcher of watchers) watcher.end()
    this.#rest()
  }

  #watchedAs(page: LivePage): Watched {
    const known = this.#watched.get(page.name)
    if (known !== undefined) return known
    const watched: Watched = { page, watchers: new Set(), behind: new Set(), isDirty: true, lastText: null }
    this.#watched.set(page.name, watched)
    return watched
  }

  #leave(watched: Watched, watcher: Watcher): void {
    if (!watched.watchers.delete(watcher)) return
    watched.behind.delete(watcher)
    this.#streams -= 1
    if (watched.watchers.size === 0) this.#watched.delete(watched.page.name)
  }

  #rest(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }

  #mark(events: readonly RecordedEvent[]): void {
    let previous = ''
    for (const event of events) {
      // Readings come in long runs of one stream; what they change is the same for all of them.
      if (event.type === 'ReadingAccepted' && event.stream === previous) continue
      previous = event.type === 'ReadingAccepted' ? event.stream : ''
      if (categoryOf(event.stream) === 'operator') this.#endRefused()
      else for (const watched of this.#watched.values()) if (concerns(event, watched.page.topic)) watched.isDirty = true
    }
  }

  /** At once, not at the next push: a session that has ended shows nothing more. */
  #endRefused(): void {
    for (const { watchers } of this.#watched.values()) {
      for (const watcher of watchers) if (!watcher.isAllowed()) endForGood(watcher)
    }
  }

  /** Goes on while somebody watches, whatever happens in a tick; a page that is left for the next one loses nothing. */
  #tickLater(): void {
    this.#isTicking = true
    this.#schedule.after(livePushMs, () => {
      this.#tick()
        .catch((thrown) => this.#lines.error('live pages failed', { error: thrownError(thrown) }))
        .finally(() => {
          if (this.#streams > 0) return this.#tickLater()
          this.#isTicking = false
          this.#rest()
        })
    })
  }

  async #tick(): Promise<void> {
    this.#ticks += 1
    const isBeat = this.#ticks % (liveHeartbeatMs / livePushMs) === 0
    for (const watched of this.#watched.values()) {
      if (!isBeat && !watched.isDirty && watched.behind.size === 0) continue
      await this.#push(watched, isBeat)
      await new Promise<void>((resolve) => this.#schedule.soon(resolve))
    }
  }

  /** With each beat every page is rendered, since windows empty and keys expire without an event. */
  async #push(watched: Watched, isBeat: boolean): Promise<void> {
    const before = watched.lastText
    if (isBeat || watched.isDirty) {
      watched.isDirty = false
      watched.lastText = await this.#render(watched.page)
    }
    const isNew = watched.lastText !== before
    for (const watcher of watched.watchers) {
      if (!watcher.isAllowed()) endForGood(watcher)
      else if (watched.lastText !== null && (isNew || watched.behind.has(watcher))) {
        if (watcher.send(watched.lastText)) watched.behind.delete(watcher)
        else watched.behind.add(watcher)
      } else if (isBeat) watcher.send(heartbeat)
    }
  }

  async #render(page: LivePage): Promise<string | null> {
    try {
      const html = await page.render()
      return html === null ? null : message(html)
    } catch (thrown) {
      this.#lines.error('live page failed', { error: thrownError(thrown) })
      return null
    }
  }
}

const concerns = (event: RecordedEvent, topic: Topic): boolean => {
  if (event.type !== 'ReadingAccepted' || topic === 'all') return true
  return 'cellar' in topic ? event.data.cellar === topic.cellar : event.stream === readingsStream(topic.keyId)
}

/** A comment: a connection on which nothing comes is closed, by us and by what lies between. */
const heartbeat = ': still here\n\n'

const message = (html: string): string => `data: ${html.split(/\r\n|\r|\n/).join('\ndata: ')}\n\n`

const endForGood = (watcher: Watcher): void => {
  watcher.send('event: end\ndata:\n\n')
  watcher.end()
}

/** `onEnd` is called once, whoever ends it. */
const eventStream = (
  { signal, isAllowed }: Viewing,
  onEnd: (watcher: Watcher) => void,
): { readonly body: ReadableStream<Uint8Array>; readonly watcher: Watcher } => {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const leave = (): void => {
    controller = null
    signal.removeEventListener('abort', leave)
    onEnd(watcher)
  }
  const watcher: Watcher = {
    isAllowed,
    send: (text) => {
      if (controller === null || (controller.desiredSize ?? 0) <= 0) return false
      controller.enqueue(encoder.encode(text))
      return true
    },
    end: () => {
      controller?.close()
      leave()
    },
  }
  // A browser that goes away shows in the signal; that the stream is cancelled as well is not to be relied on.
  signal.addEventListener('abort', leave)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => {
        controller = started
        started.enqueue(encoder.encode(heartbeat))
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: liveBytesWaitingMax }),
  )
  return { body, watcher }
}
