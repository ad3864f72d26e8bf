/**
 * docs/decisions/024-live-pages-have-a-budget.md. A message contains everything that can change on the page, so a slow
 * browser can miss some without harm.
 */

import type { Core } from '../../../actors/core-interface.ts'
import { thrownError } from '../../../domain/error-message.ts'
import { isRun, type LogItem } from '../../../domain/reading/recorded-run.ts'
import { categoryOf } from '../../../domain/stream-names.ts'
import type { Schedule } from '../../../schedule.ts'
import type { RequestLines } from '../../request-lines.ts'
import type { Pause } from '../show/pauses.ts'
import { type Changes, LiveChanges, type Topic } from './live-changes.ts'
import { LiveRenderQueue, type NextRendering, type RenderingTurns } from './live-render-queue.ts'
import { packed } from './packed-stream.ts'
import { heartbeat, type LiveStream, openLiveStream, serverSentEvent, sessionOver } from './server-sent-events.ts'

export const liveStreamsMax = 512
export const liveHeartbeatMs = 10_000
/** Between two updates of a page. `liveHeartbeatMs` must be a multiple of it. */
export const livePushMs = 500
/**
 * Further pages of the session poll, one at a time. So one of a browser's six connections is always free for what people
 * click.
 */
export const liveStreamsPerSessionMax = 4
/** A page that took 1 ms, with its questions, waits so many ms before its next rendering, but at most `liveHeartbeatMs`. */
export const liveRestFactor = 50
/** A list of events is rendered for new readings this rarely. It must be a multiple of `livePushMs`. */
export const liveReadingsMs = 2_000
/** With more renderings that wait for the store, no page is rendered. */
export const liveStoreWaitsMax = 32
/** In each `livePushMs`, on average. Other questions have the rest of their thread. */
export const liveQuestionsMsPerTick = 50
/** So one slow search delays the pages of others by 2 s at most. */
export const liveQuestionsOwedMsMax = 200
export const liveSentPerPiece = 32
const liveSentBytesPerPiece = 1024 * 1024

export type LivePage = {
  readonly name: string
  readonly topic: Topic
  /** Such a page shows records, too. */
  readonly listsEvents: boolean
  /**
   * `null` if there is nothing to show yet. Must call `pause` between pieces of work, and after each wait for the store.
   * Otherwise readings would wait for the page.
   */
  readonly render: (pause: Pause) => Promise<string | null>
  /** How long the thread for questions has worked for all renderings of this page. */
  readonly questionsMs: () => number
}

export type Viewer = {
  readonly sessionSecret: string
  readonly operatorStream: string
  /** Still open, and with the same role as at the opening. */
  readonly isAllowed: () => boolean
}

type Viewing = {
  readonly page: LivePage
  readonly viewer: Viewer
  readonly signal: AbortSignal
  /** With gzip, which the browser takes. */
  readonly isPacked: boolean
}

type ViewingSession = { readonly viewer: Viewer; readonly streams: Set<LiveStream> }

type OpenPage = {
  readonly page: LivePage
  readonly streams: Set<LiveStream>
  /** Their browser does not show the newest rendering: the stream is new, or the browser reads slowly. */
  readonly outdated: Set<LiveStream>
  /** Before its last rendering. `null`: it must be rendered even without a change. */
  renderedAt: Changes | null
  /** An equal message is not sent again. The message itself can have 300 KB, so it is not kept. */
  lastHash: number | bigint | null
  isQueued: boolean
  restsUntilMs: number
}

/** `passedMs` is a clock in ms that is never set back. */
export type LiveTiming = { readonly schedule: Schedule; readonly passedMs: () => number }

export class LivePush {
  readonly #core: Core
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #passedMs: () => number
  readonly #renderings: LiveRenderQueue
  readonly #changes = new LiveChanges()
  /** The page that was rendered longest ago comes first, so that every page gets its turn. */
  readonly #pages = new Map<string, OpenPage>()
  readonly #sessions = new Map<string, ViewingSession>()
  readonly #queue: OpenPage[] = []
  /** Number of the last rendering, by operator, since no page was open. */
  readonly #servedAt = new Map<string, number>()
  #served = 0
  readonly #rendering = new Set<string>()
  #streams = 0
  #unfollow: (() => void) | null = null
  /** Of the thread for questions, beyond what the ticks have paid. */
  #questionsMs = 0
  #isTicking = false
  #ticks = 0
  #isClosed = false

  constructor(core: Core, lines: RequestLines, { schedule, passedMs }: LiveTiming) {
    this.#core = core
    this.#lines = lines
    this.#schedule = schedule
    this.#passedMs = passedMs
    this.#renderings = new LiveRenderQueue({ schedule, passedMs }, this.#next)
  }

  get streams(): number {
    return this.#streams
  }

  get pages(): number {
    return this.#pages.size
  }

  /**
   * `full`: all sessions together have too many streams. `closed`: the service stops, or the browser has gone. `polling`:
   * the session has a poll already.
   */
  open({ page, viewer, signal, isPacked }: Viewing): ReadableStream<Uint8Array> | 'closed' | 'full' | 'polling' {
    if (this.#isClosed || signal.aborted) return 'closed'
    const session = this.#sessions.get(viewer.sessionSecret) ?? { viewer, streams: new Set() }
    const polls = [...session.streams].filter((stream) => stream.isPoll).length
    const isPoll = session.streams.size - polls >= liveStreamsPerSessionMax
    if (isPoll && polls > 0) return 'polling'
    if (this.#streams >= liveStreamsMax) return 'full'
    this.#streams += 1
    const opened = this.#openPage(page)
    const { operatorStream: operator, isAllowed } = viewer
    const { body, stream } = openLiveStream({ signal, operator, isAllowed, isPoll, isPacked }, (ended) => {
      this.#leave(opened, session, ended)
    })
    this.#sessions.set(viewer.sessionSecret, session)
    session.streams.add(stream)
    opened.streams.add(stream)
    // The page can have changed after the browser loaded it.
    opened.outdated.add(stream)
    this.#unfollow ??= this.#core.onFolded((items) => this.#noteChanges(items))
    if (!this.#isTicking) this.#tickLater()
    return body
  }

  /** What pages show has changed without an event. */
  nudge(): void {
    this.#changes.nudge()
  }

  /** The server cannot stop while a stream is open. */
  close(): void {
    this.#isClosed = true
    for (const { streams } of this.#sessions.values()) for (const stream of streams) stream.end()
    this.#unfollowAll()
  }

  #openPage(page: LivePage): OpenPage {
    const known = this.#pages.get(page.name)
    if (known !== undefined) return known
    const opened: OpenPage = {
      page,
      streams: new Set(),
      outdated: new Set(),
      renderedAt: null,
      lastHash: null,
      isQueued: false,
      restsUntilMs: 0,
    }
    this.#pages.set(page.name, opened)
    this.#changes.watch(page.topic)
    return opened
  }

  #leave(opened: OpenPage, session: ViewingSession, stream: LiveStream): void {
    if (!opened.streams.delete(stream)) return
    opened.outdated.delete(stream)
    session.streams.delete(stream)
    this.#streams -= 1
    if (session.streams.size === 0) this.#sessions.delete(session.viewer.sessionSecret)
    if (opened.streams.size > 0) return
    this.#pages.delete(opened.page.name)
    this.#changes.unwatch(opened.page.topic)
  }

  #unfollowAll(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }

  #noteChanges(items: readonly LogItem[]): void {
    let previous = ''
    for (const item of items) {
      // Consecutive items are often readings of one stream. The first is enough to count a change.
      const isReading = isRun(item) || item.type === 'ReadingAccepted'
      if (isReading && item.stream === previous) continue
      previous = isReading ? item.stream : ''
      if (categoryOf(item.stream) === 'operator') this.#endRefused(item.stream)
      this.#changes.note(item)
    }
  }

  /**
   * Sessions that are closed or have another role. Otherwise such a page would look live until the next push or heartbeat.
   */
  #endRefused(operatorStream: string): void {
    for (const { viewer, streams } of this.#sessions.values()) {
      if (viewer.operatorStream !== operatorStream || viewer.isAllowed()) continue
      for (const stream of streams) endForGood(stream)
    }
  }

  #tickLater(): void {
    this.#isTicking = true
    this.#schedule.after(livePushMs, () => this.#tick())
  }

  #tick(): void {
    if (this.#streams === 0 && this.#renderings.isIdle) {
      this.#isTicking = false
      this.#servedAt.clear()
      this.#unfollowAll()
      return
    }
    this.#tickLater()
    this.#ticks += 1
    this.#questionsMs = Math.max(0, this.#questionsMs - liveQuestionsMsPerTick)
    for (const { streams } of this.#pages.values()) for (const stream of streams) stream.passTime(livePushMs)
    if (this.#ticks % (liveHeartbeatMs / livePushMs) === 0) this.#beat()
    for (const opened of this.#pages.values()) if (this.#isDue(opened)) this.#enqueue(opened)
    this.#renderings.beginTick()
  }

  /** Marks every page, because rate windows become empty and keys expire without an event. */
  #beat(): void {
    this.#sendHeartbeats().catch((thrown) => {
      this.#lines.error('live heartbeats failed', { error: thrownError(thrown) })
    })
    for (const opened of this.#pages.values()) opened.renderedAt = null
  }

  async #sendHeartbeats(): Promise<void> {
    // Otherwise the session of a page on a wall display would expire.
    for (const secret of this.#sessions.keys()) this.#core.operators.useSession(secret)
    const streams = [...this.#sessions.values()].flatMap((session) => [...session.streams])
    for (const [index, stream] of streams.entries()) {
      if (!stream.isAllowed()) endForGood(stream)
      else stream.send(heartbeat)
      if (index % liveSentPerPiece === liveSentPerPiece - 1) {
        await new Promise<void>((resolve) => this.#schedule.soon(resolve))
      }
    }
  }

  #isDue(opened: OpenPage): boolean {
    if (opened.isQueued || this.#rendering.has(opened.page.name)) return false
    if (this.#passedMs() < opened.restsUntilMs || !this.#hasReceiver(opened)) return false
    const { readings, others } = this.#changes.of(opened.page)
    if (opened.outdated.size > 0 || opened.renderedAt?.others !== others) return true
    // Lists that are rendered together wait for the same flush of `ask.db`.
    const isTurn = !opened.page.listsEvents || this.#ticks % (liveReadingsMs / livePushMs) === 0
    return opened.renderedAt.readings !== readings && isTurn
  }

  #isOld({ page, renderedAt }: OpenPage): boolean {
    const { readings, others } = this.#changes.of(page)
    return renderedAt?.readings !== readings || renderedAt.others !== others
  }

  #enqueue(opened: OpenPage): void {
    opened.isQueued = true
    this.#queue.push(opened)
  }

  /** False if all browsers that need a message read too slowly, or rest after a large one. */
  #hasReceiver(opened: OpenPage): boolean {
    const receivers = this.#isOld(opened) ? opened.streams : opened.outdated
    return [...receivers].some((stream) => stream.hasRoom())
  }

  readonly #next = (): ReturnType<NextRendering> => {
    for (;;) {
      if (this.#renderings.waitingForStore >= liveStoreWaitsMax || this.#questionsMs >= liveQuestionsMsPerTick)
        return null
      const opened = this.#takeTurn()
      if (opened === null) return null
      opened.isQueued = false
      this.#moveToEnd(opened)
      if (this.#hasReceiver(opened)) return (turns) => this.#renderAndPush(opened, turns)
    }
  }

  /** The page whose operators were served longest ago: an operator with many pages delays others by one page only. */
  #takeTurn(): OpenPage | null {
    const servedAt = this.#queue.map(({ streams }) =>
      Math.min(...[...streams].map(({ operator }) => this.#servedAt.get(operator) ?? 0)),
    )
    const opened = this.#queue[servedAt.indexOf(Math.min(...servedAt))]
    if (opened === undefined) return null
    this.#queue.splice(this.#queue.indexOf(opened), 1)
    this.#served += 1
    for (const { operator } of opened.streams) this.#servedAt.set(operator, this.#served)
    return opened
  }

  /**
   * All browsers can have left while the page waited in `#queue`. A newer page can then have the same name, and keeps its
   * place.
   */
  #moveToEnd(opened: OpenPage): void {
    const { name } = opened.page
    if (this.#pages.get(name) !== opened) return
    this.#pages.delete(name)
    this.#pages.set(name, opened)
  }

  /** Never rejects, because `LiveRenderQueue` does not catch errors. */
  async #renderAndPush(opened: OpenPage, turns: RenderingTurns): Promise<void> {
    const { name } = opened.page
    this.#rendering.add(name)
    try {
      await this.#push(opened, turns)
    } catch (thrown) {
      this.#lines.error('live page failed', { error: thrownError(thrown) })
    } finally {
      this.#rendering.delete(name)
    }
  }

  async #push(opened: OpenPage, turns: RenderingTurns): Promise<void> {
    const { page, streams, outdated } = opened
    const hashBefore = opened.lastHash
    opened.renderedAt = this.#changes.of(page)
    const before = page.questionsMs()
    const html = await this.#render(page, turns.pause)
    const questionsMs = page.questionsMs() - before
    this.#questionsMs = Math.min(this.#questionsMs + questionsMs, liveQuestionsOwedMsMax)
    const tookMs = turns.tookMs() + questionsMs
    opened.restsUntilMs = this.#passedMs() + Math.min(tookMs * liveRestFactor, liveHeartbeatMs)
    if (html === null) {
      // Nothing to show, so no message. With hash `null`, the next HTML counts as new for all streams.
      for (const stream of outdated) if (stream.isPoll) stream.end()
      outdated.clear()
      opened.lastHash = null
      return
    }
    const message = serverSentEvent(html)
    opened.lastHash = Bun.hash(message)
    if (opened.lastHash !== hashBefore) for (const stream of streams) outdated.add(stream)
    await this.#send(message, opened, turns.pause)
  }

  async #render(page: LivePage, pause: Pause): Promise<string | null> {
    try {
      return await page.render(pause)
    } catch (thrown) {
      this.#lines.error('live page failed', { error: thrownError(thrown) })
      return null
    }
  }

  async #send(plain: Uint8Array, { outdated }: OpenPage, pause: Pause): Promise<void> {
    const perPiece = Math.max(1, Math.min(liveSentPerPiece, Math.floor(liveSentBytesPerPiece / plain.length)))
    const isPacked = [...outdated].some((stream) => stream.isPacked && stream.hasRoom())
    const message = isPacked ? await packed(plain) : { plain, packed: null }
    if (isPacked) await pause()
    for (const [index, stream] of [...outdated].entries()) {
      if (!stream.isAllowed()) endForGood(stream)
      else if (stream.hasRoom() && stream.send(message)) outdated.delete(stream)
      if (index % perPiece === perPiece - 1) await pause()
    }
  }
}

const endForGood = (stream: LiveStream): void => {
  stream.send(sessionOver)
  stream.end()
}
