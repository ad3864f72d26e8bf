import { type AttentionLine, covers, type LineScope } from '../../domain/attention/attention-lines.ts'
import { type AttentionRecord, type PastLine, pastLines } from '../../domain/attention/history.ts'
import { attentionStream, nodesAttentionStream } from '../../domain/stream-names.ts'
import type { EventLog } from '../../log/event-log.ts'

/** Records read for one question: a busy cellar has 100 in a day. */
export const attentionHistoryRecordsMax = 2_000
const recordsPerRead = 100

export type AttentionWanted = {
  /** `null`: of the nodes. */
  readonly cellar: string | null
  readonly scope: LineScope
  readonly fromMs: number
  readonly toMs: number
}

/** Newest first, as far back as `sinceMs`. */
export type PastAttention = { readonly past: readonly PastLine[]; readonly sinceMs: number; readonly isCut: boolean }

/** @throws Outage */
export const attentionHistory = async (
  log: Pick<EventLog, 'read'>,
  { cellar, scope, fromMs, toMs }: AttentionWanted,
): Promise<PastAttention> => {
  const stream = cellar === null ? nodesAttentionStream : attentionStream(cellar)
  const ofScope = (lines: readonly AttentionLine[]) => lines.filter((line) => covers(line, scope))
  const newestFirst: AttentionRecord[] = []
  const answer = (isCut: boolean): PastAttention => ({
    past: pastLines(newestFirst.toReversed(), scope).toReversed(),
    sinceMs: isCut ? (newestFirst.at(-1)?.atMs ?? fromMs) : fromMs,
    isCut,
  })
  for (let from: number | undefined; ; ) {
    const options = { direction: 'backwards', limit: recordsPerRead, ...(from !== undefined && { from }) } as const
    const events = await log.read(stream, options)
    for (const { type, data, recordedAt: atMs } of events) {
      if (type !== 'AttentionChanged' || atMs >= toMs) continue
      const { began, ended, now, more } = data
      // A record holds up to 300 lines, and the answer needs those of one thing.
      newestFirst.push({ began: ofScope(began), ended: ofScope(ended), now: ofScope(now), more, atMs })
      // The last record before `fromMs` says what needed attention then.
      if (atMs < fromMs) return answer(false)
    }
    const oldest = events.at(-1)
    if (oldest === undefined || oldest.revision === 0 || events.length < recordsPerRead) return answer(false)
    if (newestFirst.length >= attentionHistoryRecordsMax) return answer(true)
    from = oldest.revision - 1
  }
}
