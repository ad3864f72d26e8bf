import {
  type AttentionChange,
  type AttentionLine,
  type AttentionLines,
  type LineScope,
  lineId,
  noLines,
} from '../../domain/attention/attention-lines.ts'
import { FlappingLines } from '../../domain/attention/flapping-lines.ts'
import { dayMs, dayOf, hourMs } from '../../domain/calendar.ts'
import type { NewEvent, RecordedEvent } from '../../domain/events.ts'
import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { isRun } from '../../domain/reading/recorded-run.ts'
import { attentionRestsStream, attentionStream, nodesAttentionStream } from '../../domain/stream-names.ts'
import { heartbeatMs } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy, systemAsker } from '../asked-by.ts'
import type { Asker, CurrentLine } from '../core-interface.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'
import { emptyIfDamaged, readBack } from '../stream/read-stream.ts'

/** Records of a cellar in one day (UTC). Later ones come once an hour. */
export const attentionRecordsPerDayMax = 100
/** Behind the last record lie at most the purges of the days until it is written again. */
const lastEventsRead = attentionRecordsPerDayMax
/** What this version cannot read is of a newer one, whose nodes look for themselves. After that time, no such node is left. */
const unreadableMs = hourMs

/** The last record of a stream. `revision` is -1 before the first one. */
export type KnownRecord = AttentionLines & { readonly revision: number; readonly recordedAt: number }

const noRecord: KnownRecord = { ...noLines, revision: -1, recordedAt: 0 }

export const restMsMax = 366 * dayMs

type Rest = RecordedEvent<'AttentionRested'>['data'] & { readonly restedBy: RecordedEvent['metadata']['by'] }

/** The last records of all streams, of which another node can have written the newest. */
export class AttentionRecords {
  readonly #context: ActorContext
  readonly #known = new Map<string, KnownRecord>()
  readonly #rests = new Map<string, Rest>()
  readonly #flapping = new Map<string, FlappingLines>()
  readonly #today = new Map<string, { day: number; records: number }>()
  /** By stream. */
  readonly #currentOf = new Map<string, Current>()
  #current: Current | null = null
  #hasRests = false
  /** The newest record of a stream that cannot be read, and when this node met it. */
  readonly #unreadable = new Map<string, { readonly revision: number; readonly beat: number }>()

  /** Takes the records that this node has written. */
  readonly #onWritten: (event: RecordedEvent<'AttentionChanged'>) => void

  constructor(context: ActorContext, onWritten: (event: RecordedEvent<'AttentionChanged'>) => void = () => {}) {
    this.#context = context
    this.#onWritten = onWritten
  }

  /** Most urgent first, by cellar. Only of streams that were read (`last`, `loadAll`). */
  current(): readonly CurrentLine[] {
    const nowMs = this.#context.clock.now()
    if (this.#current !== null && nowMs < this.#current.untilMs) return this.#current.lines
    const parts = this.#places().map((place) => this.#currentIn(place, nowMs))
    const lines = parts.flatMap((part) => part.lines)
    this.#current = { lines, untilMs: Math.min(...parts.map(({ untilMs }) => untilMs)) }
    return lines
  }

  /** The rests of a line, or of its rack or cellar. The longest comes first. */
  restsOf(cellar: string | null, scope: LineScope, atMs: number): readonly Rest[] {
    return [scope, withoutKeg(scope), withoutRack(scope)]
      .flatMap((wider) => this.#rests.get(idIn(cellar, wider)) ?? [])
      .filter((rest, at, all) => rest.untilMs > atMs && all.indexOf(rest) === at)
      .sort((a, b) => b.untilMs - a.untilMs)
  }

  isAtRest(cellar: string | null, line: AttentionLine, atMs: number): boolean {
    return this.restsOf(cellar, line, atMs).length > 0
  }

  more(): number {
    return [...this.#known.values()].reduce((sum, { more }) => sum + more, 0)
  }

  /** Reads what is not known yet. @throws Outage */
  async loadAll(): Promise<void> {
    await this.loadRests()
    for (const { stream } of this.#places()) await this.last(stream)
  }

  /** @throws Outage */
  async loadRests(): Promise<void> {
    if (this.#hasRests) return
    const sinceMs = this.#context.clock.now() - restMsMax
    // Newest first. A rest that was heard meanwhile is newer.
    await readBack(this.#context.log, attentionRestsStream, (page) => {
      for (const { type, data, metadata } of page)
        if (type === 'AttentionRested' && !this.#rests.has(idIn(data.cellar, data))) this.rested(data, metadata)
      return page.every(({ recordedAt }) => recordedAt < sinceMs)
    }).catch(emptyIfDamaged)
    this.#hasRests = true
  }

  /** @throws Outage */
  async last(stream: string): Promise<KnownRecord> {
    const known = this.#known.get(stream)
    if (known !== undefined) return known
    const events = await this.#context.log.read(stream, { direction: 'backwards', limit: lastEventsRead })
    for (const event of events.toReversed()) this.#hear(event)
    const read = this.#known.get(stream) ?? noRecord
    this.#known.set(stream, read)
    return read
  }

  hear(items: readonly LogItem[]): void {
    for (const item of items) if (!isRun(item)) this.#hear(item)
  }

  /** What was found in a stream, with the lines that stand because they flap. */
  steadied(stream: string, found: readonly AttentionLine[], at: { known: AttentionLines; nowMs: number }) {
    return [...found, ...this.#flappingIn(stream).look(found, at.known, at.nowMs)]
  }

  mayAppend(stream: string, known: KnownRecord, nowMs: number): boolean {
    const today = this.#today.get(stream)
    if (today === undefined || today.day < dayOf(nowMs)) return true
    return today.records < attentionRecordsPerDayMax || nowMs - known.recordedAt >= hourMs
  }

  /** False if another node has written a newer record. The next look then begins with that. @throws Outage */
  async append(
    stream: string,
    known: KnownRecord,
    change: AttentionChange & { cellar: string | null },
  ): Promise<boolean> {
    const { log, clock, entropy } = this.#context
    const events = await log.read(stream, { direction: 'backwards', limit: lastEventsRead })
    const isNewer = events.some((event) => event.revision > known.revision && this.#isInForce(event))
    if (isNewer) return this.#forget(stream)
    const event: NewEvent<'AttentionChanged'> = {
      id: entropy.uuid(),
      type: 'AttentionChanged',
      recordedAt: clock.now(),
      data: change,
      metadata: askedBy(systemAsker(this.#context)),
    }
    const append = { stream, expected: events[0]?.revision ?? ('none' as const), events: [event] }
    const result = await appendUntilKnown(this.#context, append, { mustFinish: false })
    if (result.outcome === 'conflict') return this.#forget(stream)
    for (const written of result.events) {
      this.#hear(written)
      if (written.type === 'AttentionChanged') this.#onWritten(written)
    }
    return true
  }

  rested(data: RecordedEvent<'AttentionRested'>['data'], { by }: Pick<Asker, 'by'>): void {
    this.#rests.set(idIn(data.cellar, data), { ...data, restedBy: by })
    this.#currentOf.clear()
    this.#current = null
  }

  #forget(stream: string): false {
    this.#known.delete(stream)
    this.#changed(stream)
    return false
  }

  #changed(stream: string): void {
    this.#currentOf.delete(stream)
    this.#current = null
  }

  #hear(event: RecordedEvent): void {
    const { stream, revision, recordedAt, metadata } = event
    if (event.type === 'AttentionRested') {
      this.rested(event.data, { by: metadata.by })
    }
    if (event.type !== 'AttentionChanged') return
    if (revision > (this.#known.get(stream)?.revision ?? -1)) {
      this.#known.set(stream, knownOf(event))
      this.#changed(stream)
    }
    if (!this.#flappingIn(stream).hear(revision, recordedAt, event.data.began)) return
    // A clock can have been ahead.
    const day = dayOf(Math.min(recordedAt, this.#context.clock.now()))
    const today = this.#today.get(stream)
    if (today === undefined || today.day < day) this.#today.set(stream, { day, records: 1 })
    else today.records += 1
  }

  /** So a node and one of a newer version do not write in turn. */
  #isInForce({ stream, revision, type }: RecordedEvent): boolean {
    if (type !== 'RecordUnreadable') return type === 'AttentionChanged'
    const { beat } = this.#context
    const met = this.#unreadable.get(stream)
    if (met !== undefined && met.revision >= revision) return (beat - met.beat) * heartbeatMs < unreadableMs
    this.#unreadable.set(stream, { revision, beat })
    return true
  }

  #flappingIn(stream: string): FlappingLines {
    const known = this.#flapping.get(stream) ?? new FlappingLines()
    this.#flapping.set(stream, known)
    return known
  }

  #places(): readonly Place[] {
    const cellars = this.#context.projections.cellars.list()
    return [
      { cellar: null, stream: nodesAttentionStream },
      ...cellars.map(({ cellar }) => ({ cellar, stream: attentionStream(cellar) })),
    ]
  }

  #currentIn({ cellar, stream }: Place, nowMs: number): Current {
    const known = this.#currentOf.get(stream)
    if (known !== undefined && nowMs < known.untilMs) return known
    const lines = (this.#known.get(stream)?.now ?? []).map((line) => {
      const [rest] = this.restsOf(cellar, line, nowMs)
      return { cellar, line, rest: rest === undefined ? null : { untilMs: rest.untilMs, by: rest.restedBy, of: rest } }
    })
    const untilMs = lines.reduce((ms, { rest }) => Math.min(ms, rest?.untilMs ?? ms), Number.POSITIVE_INFINITY)
    this.#currentOf.set(stream, { lines, untilMs })
    return { lines, untilMs }
  }
}

type Place = { readonly cellar: string | null; readonly stream: string }

/** Until the first rest of a line ends. */
type Current = { readonly lines: readonly CurrentLine[]; readonly untilMs: number }

const knownOf = ({ data, revision, recordedAt }: RecordedEvent<'AttentionChanged'>): KnownRecord => ({
  now: data.now,
  more: data.more,
  revision,
  recordedAt,
})

const idIn = (cellar: string | null, scope: Parameters<typeof lineId>[0]): string =>
  JSON.stringify([cellar, lineId(scope)])

const withoutKeg = ({ keg: _, ...scope }: LineScope): LineScope => scope
const withoutRack = ({ rack: _, keg: __, ...scope }: LineScope): LineScope => scope
