import type { Core } from '../../../actors/core.ts'
import type { Schedule } from '../../../actors/schedule.ts'
import type { RecordedEvent } from '../../../domain/events.ts'
import { categoryOf } from '../../../domain/stream-names.ts'
import {
  liveHeartbeatMs,
  livePushMs,
  liveRestFactor,
  liveSentBytesPerPiece,
  liveSentPerPiece,
  liveStoreWaitsMax,
  liveStreamsMax,
  liveStreamsPerSessionMax,
} from '../../../limits.ts'
import { type RequestLines, thrownError } from '../../request-lines.ts'
import type { Pause } from '../show/pause.ts'
import { LiveChanges, type Topic } from './live-changes.ts'
import { LiveRenderings, type NextRendering, type RenderingTurns } from './live-renderings.ts'
import { endings, eventStream, heartbeat, serverSentEvent, type Watcher } from './live-stream.ts'

export type LivePage = {
  /** Pages of the same name show the same, and are rendered once for all who watch. */
  readonly name: string
  readonly topic: Topic
  /** Whether a rendering may wait for the store. */
  readonly readsStore: boolean
  /** `null`: nothing to show yet. Long work waits for `pause` between its pieces, and after the store has answered; one pause at a time. */
  readonly render: (pause: Pause) => Promise<string | null>
}

export type Viewer = {
  /** Streams of one session are counted together. */
  readonly sessionSecret: string
  /** The stream of the operator's events: any of them may end the session. */
  readonly operatorStream: string
  /** Whether the session is still open, and its role the same. */
  readonly isAllowed: () => boolean
}

type Viewing = {
  readonly page: LivePage
  readonly viewer: Viewer
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal
}

/** One open session. Its streams are in the order in which they were opened. */
type Session = { readonly viewer: Viewer; readonly watchers: Set<Watcher> }

type Watched = {
  readonly page: LivePage
  readonly watchers: Set<Watcher>
  /** Came since the last push, or had no room for it. */
  readonly behind: Set<Watcher>
  /** The topic's changes when it was rendered last; `null`: it must be rendered again in any case. */
  renderedAt: number | null
  /** Of what was pushed last. The text itself is not kept: it may be 300 KB. */
  lastHash: number | bigint | null
  isWaiting: boolean
  restsUntilMs: number
}

/** `passedMs`: the ms since some instant, by which rendering is measured. */
export type LiveTiming = { readonly schedule: Schedule; readonly passedMs: () => number }

/**
 * Everything that pages watch. Readings must not wait for pages, so rendering is bounded. Every `livePushMs` a tick puts the
 * pages that have changed behind those that still wait. They are rendered in this order (`live-renderings.ts`) until the tick's
 * time is spent. The next tick goes on where this one stopped.
 *
 * A page that a browser takes too slowly is skipped, not queued: each push is whole.
 */
export class LivePages {
  readonly #core: Core
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  readonly #renderings: LiveRenderings
  readonly #changes = new LiveChanges()
  /** By name. The one whose turn was longest ago is the first. */
  readonly #watched = new Map<string, Watched>()
  readonly #sessions = new Map<string, Session>()
  /** Pages whose turn comes, in this order. */
  readonly #waiting: Watched[] = []
  /** Names of the pages that are being rendered: none is rendered twice at once. */
  readonly #underWay = new Set<string>()
  #streams = 0
  #unfollow: (() => void) | null = null
  #isTicking = false
  #ticks = 0
  #isClosed = false

  constructor(core: Core, lines: RequestLines, { schedule, passedMs }: LiveTiming) {
    this.#core = core
    this.#lines = lines
    this.#schedule = schedule
    this.#passedMs = passedMs
    this.#renderings = new LiveRenderings({ schedule, passedMs }, this.#next)
  }

  /** How many streams are open. */
  get streams(): number {
    return this.#streams
  }

  /** How many different pages are watched: each is rendered once, however many streams show it. */
  get pages(): number {
    return this.#watched.size
  }

  /**
   * A stream of that page's fragments. `full`: there are too many of all sessions. A session that has too many loses its
   * oldest one instead, so that a connection whose browser is long gone keeps nobody out.
   */
  open({ page, viewer, signal }: Viewing): ReadableStream<Uint8Array> | 'closed' | 'full' {
    if (this.#isClosed || signal.aborted) return 'closed'
    const session = this.#sessions.get(viewer.sessionSecret) ?? { viewer, watchers: new Set() }
    if (session.watchers.size >= liveStreamsPerSessionMax) endOldest(session)
    if (this.#streams >= liveStreamsMax) return 'full'
    this.#streams += 1
    const watched = this.#watchedAs(page)
    const { body, watcher } = eventStream({ signal, isAllowed: viewer.isAllowed }, (gone) => {
      this.#leave(watched, session, gone)
    })
    this.#sessions.set(viewer.sessionSecret, session)
    session.watchers.add(watcher)
    watched.watchers.add(watcher)
    // The page was made a moment ago, and something may have come since.
    watched.behind.add(watcher)
    this.#unfollow ??= this.#core.onFolded((events) => this.#note(events))
    if (!this.#isTicking) this.#tickLater()
    return body
  }

  /** Ends every stream, so that the server can stop, and opens no more. The pages ask again when there is a service again. */
  close(): void {
    this.#isClosed = true
    for (const { watchers } of this.#sessions.values()) for (const watcher of watchers) watcher.end()
    this.#unfollowAll()
  }

  #watchedAs(page: LivePage): Watched {
    const known = this.#watched.get(page.name)
    if (known !== undefined) return known
    const watched: Watched = {
      page,
      watchers: new Set(),
      behind: new Set(),
      renderedAt: null,
      lastHash: null,
      isWaiting: false,
      restsUntilMs: 0,
    }
    this.#watched.set(page.name, watched)
    this.#changes.watch(page.topic)
    return watched
  }

  #leave(watched: Watched, session: Session, watcher: Watcher): void {
    if (!watched.watchers.delete(watcher)) return
    watched.behind.delete(watcher)
    session.watchers.delete(watcher)
    this.#streams -= 1
    if (session.watchers.size === 0) this.#sessions.delete(session.viewer.sessionSecret)
    if (watched.watchers.size > 0) return
    this.#watched.delete(watched.page.name)
    this.#changes.unwatch(watched.page.topic)
  }

  #unfollowAll(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }

  #note(events: readonly RecordedEvent[]): void {
    let previous = ''
    for (const event of events) {
      // Readings come in long runs of one stream; what they change is the same for all of them.
      if (event.type === 'ReadingAccepted' && event.stream === previous) continue
      previous = event.type === 'ReadingAccepted' ? event.stream : ''
      if (categoryOf(event.stream) === 'operator') this.#endRefused(event.stream)
      else this.#changes.note(event)
    }
  }

  /** At once, not at the next push: a session that has ended shows nothing more. Asks only the sessions of that operator. */
  #endRefused(operatorStream: string): void {
    for (const { viewer, watchers } of this.#sessions.values()) {
      if (viewer.operatorStream !== operatorStream || viewer.isAllowed()) continue
      for (const watcher of watchers) endFor(watcher, 'over')
    }
  }

  #tickLater(): void {
    this.#isTicking = true
    this.#schedule.after(livePushMs, () => this.#tick())
  }

  /** Goes on while somebody watches, or while a rendering still waits for its next piece. */
  #tick(): void {
    if (this.#streams === 0 && this.#renderings.isIdle) {
      this.#isTicking = false
      this.#unfollowAll()
      return
    }
    this.#tickLater()
    this.#ticks += 1
    if (this.#ticks % (liveHeartbeatMs / livePushMs) === 0) this.#beat()
    for (const watched of this.#watched.values()) if (this.#isDue(watched)) this.#putInLine(watched)
    this.#renderings.beginTick()
  }

  /** With each beat every page is rendered, since windows empty and keys expire without an event. */
  #beat(): void {
    this.#sendHeartbeats().catch((thrown) => {
      this.#lines.error('live heartbeats failed', { error: thrownError(thrown) })
    })
    for (const watched of this.#watched.values()) watched.renderedAt = null
  }

  #isDue(watched: Watched): boolean {
    if (watched.isWaiting || this.#underWay.has(watched.page.name)) return false
    if (this.#passedMs() < watched.restsUntilMs) return false
    return watched.behind.size > 0 || watched.renderedAt !== this.#changes.of(watched.page.topic)
  }

  #putInLine(watched: Watched): void {
    watched.isWaiting = true
    this.#waiting.push(watched)
  }

  /** Does nothing if the page was left meanwhile: another one may have its name since. */
  #moveToEnd(watched: Watched): void {
    const { name } = watched.page
    if (this.#watched.get(name) !== watched) return
    this.#watched.delete(name)
    this.#watched.set(name, watched)
  }

  /** The page whose turn it is. One that nobody has room for is not rendered. */
  readonly #next = (): ReturnType<NextRendering> => {
    for (;;) {
      const areTooManyAside = this.#renderings.aside >= liveStoreWaitsMax
      const index = this.#waiting.findIndex(({ page }) => !(page.readsStore && areTooManyAside))
      const [watched] = index === -1 ? [] : this.#waiting.splice(index, 1)
      if (watched === undefined) return null
      watched.isWaiting = false
      this.#moveToEnd(watched)
      const wanting = watched.renderedAt === this.#changes.of(watched.page.topic) ? watched.behind : watched.watchers
      if ([...wanting].some((watcher) => watcher.hasRoom())) return (turns) => this.#show(watched, turns)
    }
  }

  async #sendHeartbeats(): Promise<void> {
    // An open live page counts as use: nobody clicks on a page that hangs on a wall.
    for (const secret of this.#sessions.keys()) this.#core.operators.useSession(secret)
    const watchers = [...this.#sessions.values()].flatMap((session) => [...session.watchers])
    for (const [index, watcher] of watchers.entries()) {
      if (!watcher.isAllowed()) endFor(watcher, 'over')
      else watcher.send(heartbeat)
      if (index % liveSentPerPiece === liveSentPerPiece - 1) {
        await new Promise<void>((resolve) => this.#schedule.soon(resolve))
      }
    }
  }

  /** Never throws: what goes wrong is logged, and the other pages go on. */
  async #show(watched: Watched, turns: RenderingTurns): Promise<void> {
    const { name } = watched.page
    this.#underWay.add(name)
    try {
      await this.#push(watched, turns)
    } catch (thrown) {
      this.#lines.error('live page failed', { error: thrownError(thrown) })
    } finally {
      this.#underWay.delete(name)
    }
  }

  async #push(watched: Watched, turns: RenderingTurns): Promise<void> {
    const { page, watchers, behind } = watched
    const before = watched.lastHash
    watched.renderedAt = this.#changes.of(page.topic)
    const html = await this.#render(page, turns.pause)
    watched.restsUntilMs = this.#passedMs() + Math.min(turns.tookMs() * liveRestFactor, liveHeartbeatMs)
    if (html === null) {
      // There is nothing to catch up with. What comes next is sent to all.
      behind.clear()
      watched.lastHash = null
      return
    }
    const bytes = serverSentEvent(html)
    watched.lastHash = Bun.hash(bytes)
    if (watched.lastHash !== before) for (const watcher of watchers) behind.add(watcher)
    await this.#send(bytes, watched, turns.pause)
  }

  async #render(page: LivePage, pause: Pause): Promise<string | null> {
    try {
      return await page.render(pause)
    } catch (thrown) {
      this.#lines.error('live page failed', { error: thrownError(thrown) })
      return null
    }
  }

  /** To all who are behind. Many watchers, or a large page, take several pieces. */
  async #send(bytes: Uint8Array, { behind }: Watched, pause: Pause): Promise<void> {
    const perPiece = Math.max(1, Math.min(liveSentPerPiece, Math.floor(liveSentBytesPerPiece / bytes.length)))
    for (const [index, watcher] of [...behind].entries()) {
      if (!watcher.isAllowed()) endFor(watcher, 'over')
      else if (watcher.send(bytes)) behind.delete(watcher)
      if (index % perPiece === perPiece - 1) await pause()
    }
  }
}

const endFor = (watcher: Watcher, why: keyof typeof endings): void => {
  watcher.send(endings[why])
  watcher.end()
}

const endOldest = ({ watchers }: Session): void => {
  const [oldest] = watchers
  if (oldest !== undefined) endFor(oldest, 'crowded')
}
