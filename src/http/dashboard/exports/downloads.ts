import type { Core } from '../../../actors/core-interface.ts'
import { thrownError } from '../../../domain/error-message.ts'
import type { Role } from '../../../domain/events.ts'
import { isRun } from '../../../domain/reading/recorded-run.ts'
import type { CommandRefusal, Outcome } from '../../../domain/refusal.ts'
import { categoryOf } from '../../../domain/stream-names.ts'
import { cutOffWords, type RunningExport } from '../../../export/running-export.ts'
import { type Schedule, systemSchedule } from '../../../schedule.ts'
import { connectionIdleSecondsMax } from '../../http-bounds.ts'
import type { RequestLines } from '../../request-lines.ts'
import type { ConnectionTimer } from '../../unfinished-bodies.ts'
import { exportLookMs, SpareTime } from './spare-time.ts'

export const exportsMax = 3
/** The other places are for admins. */
export const exportsOfAuditorsMax = 2
const exportsPerOperatorMax = 1
/**
 * Exports of one operator in `exportWindowMs`, on one node. Each writes two records that are kept for ever, of 0.5 KB and
 * at most about 5 KB. So an operator writes at most 15 MB a day.
 */
export const exportsBegunMax = 60
export const exportWindowMs = 3_600_000
/** When an export is cut off, its connection closes after this time, or up to 4 s later: Bun's timers have steps of 4 s. */
const exportCutOffSeconds = 1

export type Downloader = {
  readonly email: string
  readonly role: Role
  readonly request: Request
  readonly isAllowed: () => boolean
}

type Download = {
  readonly downloader: Downloader
  /** `null` while the beginning is being recorded. */
  running: RunningExport | null
  controller: ReadableStreamDefaultController<Uint8Array> | null
  readonly spare: SpareTime
}

export type DownloadTiming = {
  readonly schedule?: Schedule
}

export type Opened =
  | { readonly kind: 'opened'; readonly body: ReadableStream<Uint8Array> }
  | { readonly kind: 'refused'; readonly refusal: CommandRefusal }
  /** The operator has an export already, there are too many exports, or the service stops. */
  | { readonly kind: 'one_is_running' | 'too_many' | 'closed' }
  | { readonly kind: 'too_often'; readonly waitMs: number }

type Begin = () => Promise<Outcome<RunningExport, CommandRefusal>>

/**
 * A page of events is read only when the browser has taken the page before, so a slow browser costs no memory. An export
 * that is cut off closes its connection, so that the browser reports a broken download and not a short file.
 */
export class Downloads {
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  readonly #open = new Set<Download>()
  readonly #forget: () => void
  readonly #now: () => number
  #begun: readonly { readonly email: string; readonly atMs: number }[] = []
  #timer: ConnectionTimer | null = null
  #isLooking = false
  #isClosed = false

  constructor(core: Core, lines: RequestLines, { schedule = systemSchedule }: DownloadTiming = {}) {
    this.#lines = lines
    this.#schedule = schedule
    this.#now = () => core.clock.now()
    this.#forget = core.onFolded((items) => {
      if (this.#open.size > 0 && items.some((item) => !isRun(item) && categoryOf(item.stream) === 'operator'))
        this.#endForbidden()
    })
  }

  servedBy(timer: ConnectionTimer): void {
    this.#timer = timer
  }

  get count(): number {
    return this.#open.size
  }

  async open(downloader: Downloader, begin: Begin): Promise<Opened> {
    if (this.#isClosed) return { kind: 'closed' }
    const { email, role } = downloader
    const running = [...this.#open].map((download) => download.downloader)
    if (running.filter((one) => one.email === email).length >= exportsPerOperatorMax) return { kind: 'one_is_running' }
    const ofAuditors = running.filter((one) => one.role === 'auditor').length
    if (running.length >= exportsMax || (role === 'auditor' && ofAuditors >= exportsOfAuditorsMax))
      return { kind: 'too_many' }
    const waitMs = this.#note(email)
    if (waitMs > 0) return { kind: 'too_often', waitMs }
    const download: Download = { downloader, running: null, controller: null, spare: new SpareTime() }
    this.#open.add(download)
    this.#lookLater()
    const begun = await this.#begin(download, begin)
    if (!begun.ok) return { kind: 'refused', refusal: begun.refusal }
    download.running = begun.value
    if (!this.#isClosed) return { kind: 'opened', body: this.#bodyOf(download) }
    await this.#cutOff(download, cutOffWords.serviceStopped)
    return { kind: 'closed' }
  }

  #note(email: string): number {
    const nowMs = this.#now()
    this.#begun = this.#begun.filter(({ atMs }) => atMs > nowMs - exportWindowMs)
    const own = this.#begun.filter((one) => one.email === email)
    const [oldest] = own
    if (oldest !== undefined && own.length >= exportsBegunMax) return oldest.atMs + exportWindowMs - nowMs
    this.#begun = [...this.#begun, { email, atMs: nowMs }]
    return 0
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#forget()
    await Promise.all([...this.#open].map((download) => this.#cutOff(download, cutOffWords.serviceStopped)))
  }

  async #begin(download: Download, begin: Begin) {
    try {
      const begun = await begin()
      if (!begun.ok) this.#open.delete(download)
      return begun
    } catch (error) {
      this.#open.delete(download)
      throw error
    }
  }

  #bodyOf(download: Download): ReadableStream<Uint8Array> {
    const { request } = download.downloader
    const leave = (): void => {
      // Bun has closed the stream: to close it again would throw, outside of any request.
      download.controller = null
      void this.#cutOff(download, cutOffWords.clientLeft)
    }
    // The signal is always aborted when the browser leaves, but `cancel` is not always called.
    if (request.signal.aborted) leave()
    else request.signal.addEventListener('abort', leave)
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          download.controller = controller
        },
        pull: () => this.#push(download),
        cancel: leave,
      },
      { highWaterMark: 0 },
    )
  }

  /** Never rejects, because Bun would write the error to stderr. */
  async #push(download: Download): Promise<void> {
    download.spare.take()
    try {
      const text = await this.#nextText(download)
      if (text !== null) this.#send(download, new TextEncoder().encode(text))
      else if (download.controller !== null) this.#endOf(download)
    } catch (error) {
      this.#lines.error('export failed', { error: thrownError(error) })
      this.#endOf(download)
    }
  }

  #send(download: Download, bytes: Uint8Array): void {
    if (download.controller === null) return
    download.spare.offer(bytes.length)
    download.controller.enqueue(bytes)
  }

  /** `null` at the end. A stream of bytes cannot send empty pages. */
  async #nextText(download: Download): Promise<string | null> {
    const { running, downloader } = download
    for (;;) {
      if (!downloader.isAllowed()) await this.#cutOff(download, cutOffWords.sessionEnded)
      const page = (await running?.next()) ?? null
      if (page === null) return null
      // A search for rare events can send nothing for minutes, and Bun would close the connection.
      this.#timer?.timeout(downloader.request, connectionIdleSecondsMax)
      if (page.text !== '') return page.text
    }
  }

  /** With an error if rows are missing: Bun then closes the connection without the last chunk. */
  #endOf(download: Download): void {
    const { controller, running } = download
    download.controller = null
    this.#open.delete(download)
    if (running?.cutOffWhy === null) {
      controller?.close()
      return
    }
    // Bun keeps the connection of a browser that does not read, and a stop of the service would wait for it.
    this.#timer?.timeout(download.downloader.request, exportCutOffSeconds)
    controller?.error(new Error(`The export was cut off: ${running?.cutOffWhy ?? ''}`))
  }

  async #cutOff(download: Download, why: string): Promise<void> {
    const { running } = download
    if (running === null) return
    const recorded = await running.cutOff(why)
    if (!recorded.ok) this.#lines.warn('the end of an export is not recorded', { why: recorded.refusal.kind })
    if (this.#open.has(download)) this.#endOf(download)
  }

  #endForbidden(): void {
    for (const download of this.#open)
      if (!download.downloader.isAllowed()) void this.#cutOff(download, cutOffWords.sessionEnded)
  }

  /** A session can also end without an event, while a slow client takes no page. */
  #lookLater(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#schedule.after(exportLookMs, () => {
      this.#isLooking = false
      this.#endForbidden()
      this.#endSlow()
      if (this.#open.size > 0) this.#lookLater()
    })
  }

  #endSlow(): void {
    for (const download of this.#open) if (download.spare.look()) void this.#cutOff(download, cutOffWords.clientTooSlow)
  }
}
