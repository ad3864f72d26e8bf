import type { AttentionRecord } from '../../domain/attention/history.ts'
import { attentionStream, nodesAttentionStream } from '../../domain/stream-names.ts'
import type { EventLog } from '../../log/event-log.ts'

/** Records read for one question: a busy cellar has 100 in a day. */
export const attentionHistoryRecordsMax = 2_000
const recordsPerRead = 100

export type AttentionWanted = {
  /** `null`: of the nodes. */
  readonly cellar: string | null
  readonly fromMs: number
  readonly toMs: number
}

/** Oldest first. The first record is the last one before `fromMs`, if there is one. @throws Outage */
export const attentionHistory = async (
  log: Pick<EventLog, 'read'>,
  { cellar, fromMs, toMs }: AttentionWanted,
): Promise<{ readonly records: readonly AttentionRecord[]; readonly isCut: boolean }> => {
  const stream = cellar === null ? nodesAttentionStream : attentionStream(cellar)
  const newestFirst: AttentionRecord[] = []
  for (let from: number | undefined; ; ) {
    const options = { direction: 'backwards', limit: recordsPerRead, ...(from !== undefined && { from }) } as const
    const events = await log.read(stream, options)
    for (const { type, data, recordedAt: atMs, revision } of events) {
      if (type !== 'AttentionChanged' || atMs >= toMs) continue
      const { began, ended, now, more } = data
      newestFirst.push({ began, ended, now, more, atMs, stream, revision })
      if (atMs < fromMs) return { records: newestFirst.reverse(), isCut: false }
    }
    const oldest = events.at(-1)
    if (oldest === undefined || oldest.revision === 0 || events.length < recordsPerRead)
      return { records: newestFirst.reverse(), isCut: false }
    if (newestFirst.length >= attentionHistoryRecordsMax) return { records: newestFirst.reverse(), isCut: true }
    from = oldest.revision - 1
  }
}
