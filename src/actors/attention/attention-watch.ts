/**
 * Each node looks for itself, and writes what has changed since the last record of the cluster. An append needs the exact revision,
 * so one node writes each record, and the others begin their next look with it. A node never decides by a time before that of the
 * last record, and excused time does not end a silence. So nodes that differ a little do not write in turn.
 */
import type { questionKinds } from '../../asked/question-kinds.ts'
import type { Questions } from '../../derived/questions/question.ts'
import type { FoundSilence } from '../../derived/readings/silent-lines.ts'
import {
  type AttentionLine,
  changeOf,
  hasOtherCounts,
  type ListedLines,
  linesOf,
} from '../../domain/attention/attention-lines.ts'
import { ExcusedTimes, type RememberedExcuses } from '../../domain/attention/excused-times.ts'
import { keyLines } from '../../domain/attention/key-lines.ts'
import { linesOfNodes, type NodeLines } from '../../domain/attention/lines-of-nodes.ts'
import { type Refused, refusalHours, refusalKinds, refusalLines } from '../../domain/attention/refused-keys.ts'
import { hourMs, minuteMs } from '../../domain/calendar.ts'
import type { CellarState } from '../../domain/cellar.ts'
import { attentionStream, nodesAttentionStream } from '../../domain/stream-names.ts'
import { heartbeatMs } from '../../limits.ts'
import { Outage } from '../../log/event-log.ts'
import type { ActorContext } from '../actor-context.ts'
import { recordsKeptMsOf } from '../cellar/record-retention.ts'
import type { AttentionRecords, KnownRecord } from './attention-records.ts'

/** It must be a multiple of `heartbeatMs`. */
export const attentionLookMs = 10_000
/** A new keg can become silent this soon. */
const quietLookMs = minuteMs
/** Looks use at most this part of the time of the thread for questions. */
const partOfTime = 100
/** Devices need this time to try again after an outage. */
export const excusedGraceMs = minuteMs
/** A node whose heartbeat pauses longer was suspended, or its clock jumped. */
const beatGapMs = 10 * heartbeatMs
const rememberEveryMs = 10_000
/** A record from further ahead is of a clock that was wrong. */
const aheadMsMax = 10 * minuteMs
/** Events of other nodes arrive in this time. */
const lagMsMax = 5_000
/** Counts change often, so a record is not written for each change. */
const countsRenewedMs = hourMs
const refusedKeysMax = 1_000

export type AttentionParts = {
  /** Default: a start takes the node for down since its newest event. */
  readonly excuses?: {
    read(): Promise<RememberedExcuses | null>
    write(excuses: RememberedExcuses): Promise<void>
  }
  /** Names this node in the lines of nodes. */
  readonly node: string
  /** The node refuses readings for reasons of its own, or hears of them too late. */
  readonly isRefusing: () => boolean
  /** `null`: the start has not ended. */
  readonly nodeLines: () => NodeLines | null
}

type Looked = { lookedMs: number; nextMs: number; refusedHour: number; refused: readonly AttentionLine[] }

export class AttentionWatch {
  readonly #context: ActorContext
  readonly #records: AttentionRecords
  readonly #questions: Questions<typeof questionKinds>
  readonly #parts: AttentionParts
  readonly #excused = new ExcusedTimes()
  /** By cellar. */
  readonly #looked = new Map<string, Looked>()
  #hasBegun = false
  #lastBeatMs = 0
  #rememberedMs = 0
  #graceUntilMs = 0
  #looking: Promise<void> | null = null

  constructor(
    context: ActorContext,
    parts: AttentionParts & { readonly records: AttentionRecords; readonly questions: Questions<typeof questionKinds> },
  ) {
    this.#context = context
    this.#records = parts.records
    this.#questions = parts.questions
    this.#parts = parts
  }

  get isIdle(): boolean {
    return this.#looking === null
  }

  /** Until then, the node accepts no readings. `newestMs`: of its newest event. */
  async begin(newestMs: number): Promise<void> {
    const remembered = await this.#parts.excuses?.read()
    // A log that was restored has no readings of the time between its backup and the start.
    const isOfLog = remembered !== undefined && remembered !== null && remembered.heardTo <= this.#context.heardTo
    const { ranMs, excused } = isOfLog ? remembered : { ranMs: newestMs, excused: [] }
    // The clock can have been ahead.
    const nowMs = this.#context.clock.now()
    for (const [fromMs, toMs] of excused) this.#excused.add(fromMs, Math.min(toMs, nowMs))
    this.#lastBeatMs = Math.min(ranMs, nowMs)
    this.#hasBegun = true
    this.#excuse()
    await this.#remember()
  }

  onBeat(): void {
    if (!this.#hasBegun) return
    this.#excuse()
    void this.#remember()
    if (this.#context.beat % (attentionLookMs / heartbeatMs) === 0) void this.look()
  }

  look(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookAtAll(): Promise<void> {
    await this.#records.loadRests().catch((error: unknown) => this.#report(error))
    for (const cellar of this.#context.projections.cellars.list()) {
      if (this.#context.isStopping) return
      // A record that cannot be read must not hide the other cellars.
      if (this.#isDue(cellar)) await this.#lookAt(cellar).catch((error: unknown) => this.#report(error))
    }
    if (!this.#context.isStopping) await this.#lookAtNode().catch((error: unknown) => this.#report(error))
  }

  /** Also if the clock was set back since the last look. */
  #isDue(cellar: CellarState): boolean {
    const { lookedMs, nextMs } = this.#of(cellar)
    const nowMs = this.#context.clock.now()
    return nowMs >= nextMs || nowMs < lookedMs
  }

  #report(error: unknown): void {
    if (!(error instanceof Outage)) this.#context.onBug(error)
  }

  #excuse(): void {
    const nowMs = this.#context.clock.now()
    const isExcused = Math.abs(nowMs - this.#lastBeatMs) > beatGapMs || this.#parts.isRefusing()
    if (isExcused) this.#graceUntilMs = nowMs + excusedGraceMs
    if (nowMs <= this.#graceUntilMs) this.#excused.add(this.#lastBeatMs, nowMs)
    this.#lastBeatMs = nowMs
  }

  async #remember(): Promise<void> {
    const ranMs = this.#lastBeatMs
    if (Math.abs(ranMs - this.#rememberedMs) < rememberEveryMs) return
    this.#rememberedMs = ranMs
    await this.#parts.excuses
      ?.write({ ranMs, heardTo: this.#context.heardTo, excused: this.#excused.times })
      .catch(this.#context.onBug)
  }

  #of({ cellar }: CellarState): Looked {
    const known = this.#looked.get(cellar)
    if (known !== undefined) return known
    const looked = { lookedMs: 0, nextMs: 0, refusedHour: 0, refused: [] }
    this.#looked.set(cellar, looked)
    return looked
  }

  async #lookAt(cellar: CellarState): Promise<void> {
    const stream = attentionStream(cellar.cellar)
    const known = await this.#records.last(stream)
    const looked = this.#of(cellar)
    const nowMs = this.#nowAfter(known)
    const keptMs = recordsKeptMsOf(cellar.policy)
    const ofKeys = this.#keyLines(cellar, nowMs)
    let found = await this.#linesOf(cellar, { known, nowMs, ofKeys, isAtOnce: true })
    // The file of the model can be some seconds old. So a change is found again with all readings that this node has.
    if (found === null) return
    if (changeOf(known, found) !== null) {
      const heardTo = this.#context.heardTo
      found = await this.#linesOf(cellar, { known, nowMs, ofKeys, isAtOnce: false })
      if (found === null || (await this.#lags(heardTo, nowMs))) return
    }
    const isWritten = await this.#write({
      stream,
      cellar: cellar.cellar,
      known,
      next: found,
      renewMs: keptMs / 2,
      nowMs,
    })
    if (!isWritten) return
    const hasSilent = found.now.some(({ kind }) => kind === 'silent') || found.more > 0
    const lookMs = hasSilent ? attentionLookMs : quietLookMs
    looked.lookedMs = this.#context.clock.now()
    looked.nextMs = looked.lookedMs + Math.max(Math.min(lookMs, found.nextMs - nowMs), partOfTime * found.tookMs)
  }

  #nowAfter({ recordedAt }: KnownRecord): number {
    const nowMs = this.#context.clock.now()
    return recordedAt > nowMs + aheadMsMax ? nowMs : Math.max(nowMs, recordedAt)
  }

  /**
   * A node that had not heard of the newest readings would take all devices for silent. `heardTo` is from before the question: the
   * readings can have come since.
   */
  async #lags(heardTo: number, nowMs: number): Promise<boolean> {
    const [next] = await this.#context.log.readAll({ limit: 1, ...(heardTo >= 0 && { from: heardTo }) })
    return next !== undefined && nowMs - next.recordedAt > lagMsMax
  }

  /** This passes all keys of the cellar, so a look does it once. */
  #keyLines({ cellar }: CellarState, nowMs: number): readonly AttentionLine[] {
    const { keys, readings } = this.#context.projections
    const lastUsedAt = (keyId: string): number | null => readings.usage(keyId)?.lastUsedAt ?? null
    return keyLines(
      keys.ofCellar(cellar).map((key) => ({ key, lastUsedAt: lastUsedAt(key.keyId) })),
      nowMs,
    )
  }

  async #linesOf(
    cellar: CellarState,
    look: Look & { readonly ofKeys: readonly AttentionLine[] },
  ): Promise<FoundLines | null> {
    const { known, nowMs, ofKeys } = look
    const silence = await this.#silence(cellar, look)
    if (silence === null) return null
    const refused = (await this.#refused(cellar, nowMs)) ?? known.now.filter(({ kind }) => refusalKinds.includes(kind))
    const all = [...silence.lines, ...ofKeys, ...refused]
    const found = this.#records.steadied(attentionStream(cellar.cellar), all, { known, nowMs })
    return {
      ...linesOf(found, silence.more, known),
      gone: silence.gone,
      nextMs: silence.nextMs,
      tookMs: silence.tookMs,
    }
  }

  async #silence(
    { cellar, silence: rules }: CellarState,
    { known, nowMs, isAtOnce }: Look,
  ): Promise<(FoundSilence & { readonly tookMs: number }) | null> {
    let tookMs = 0
    const onTook = (ms: number): void => {
      tookMs = ms
    }
    const wanted = { cellar, nowMs, rules, excused: this.#excused.times, standing: known.now }
    const answered = await this.#questions.ask('silentLines', wanted, { owner, isAtOnce, isPatient: true, onTook })
    return answered.kind === 'answered' && !answered.isBehind ? { ...answered.answer, tookMs } : null
  }

  /** Once an hour: the sums of the last complete hour do not change. `null`: not known, so the known lines stand. */
  async #refused(cellar: CellarState, nowMs: number): Promise<readonly AttentionLine[] | null> {
    const looked = this.#of(cellar)
    const hours = refusalHours(nowMs)
    if (looked.refusedHour === hours.last) return looked.refused
    const sums = new Map<number, readonly Refused[]>()
    for (const hour of Object.values(hours)) {
      const wanted = [cellar.cellar, hour, refusedKeysMax] as const
      const answered = await this.#questions.ask('refusalsOfCellar', [...wanted], { owner, isPatient: true })
      if (answered.kind !== 'answered' || answered.isBehind) return null
      sums.set(hour, answered.answer)
    }
    looked.refused = refusalLines(nowMs, (hour) => sums.get(hour) ?? [])
    looked.refusedHour = hours.last
    return looked.refused
  }

  async #lookAtNode(): Promise<void> {
    const { node, nodeLines } = this.#parts
    const found = nodeLines()
    if (found === null) return
    const known = await this.#records.last(nodesAttentionStream)
    const nowMs = this.#nowAfter(known)
    const kept = known.now.filter((line) => line.node !== node || found.undecided.includes(line.kind))
    const mine = found.lines.map((line) => ({ ...line, node }))
    // Two nodes can have one name by mistake.
    const steadied = this.#records.steadied(nodesAttentionStream, [...kept, ...mine], { known, nowMs })
    const lines = steadied.filter((line) => !kept.includes(line))
    const { next, isRepeated } = linesOfNodes(known, { ...found, lines }, { node, nowMs })
    const renewMs = isRepeated ? 0 : Number.POSITIVE_INFINITY
    await this.#write({ stream: nodesAttentionStream, cellar: null, known, next, renewMs, nowMs })
  }

  /** Before a purge can delete the last record, it is written again. False if another look must follow soon. */
  async #write({ stream, cellar, known, next, renewMs, nowMs }: Writing): Promise<boolean> {
    const { now, more } = next
    const dueMs = hasOtherCounts(known, next) ? Math.min(renewMs, countsRenewedMs) : renewMs
    const isOld = now.length > 0 && nowMs - known.recordedAt >= dueMs
    const change = changeOf(known, next) ?? (isOld ? { began: [], ended: [], now, more } : null)
    if (change === null) return true
    if (!this.#records.mayAppend(stream, known, nowMs)) return true
    return this.#records.append(stream, known, { cellar, ...change })
  }
}

const owner = 'attention'

type Look = { readonly known: KnownRecord; readonly nowMs: number; readonly isAtOnce: boolean }

type FoundLines = ListedLines & { readonly nextMs: number; readonly tookMs: number }

type Writing = {
  readonly stream: string
  readonly cellar: string | null
  readonly known: KnownRecord
  readonly next: ListedLines
  readonly renewMs: number
  readonly nowMs: number
}
