import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import { minuteMs } from '../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { attentionStream } from '../../../src/domain/stream-names.ts'
import { heartbeatMs } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { type Service, type ServiceOptions, startService, testCellar } from '../test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../time/driven-schedule.ts'

export type WatchingService = Service & { readonly schedule: DrivenSchedule }

/** A node that looks for what needs attention when the test lets it. */
export const startWatching = async (options: Omit<ServiceOptions, 'schedule'>): Promise<WatchingService> => {
  const schedule = drivenSchedule()
  const service = await startService({ isDerived: true, attention: {}, ...options, schedule })
  return { ...service, schedule }
}

const stepMs = 5_000
const lookEveryMs = 10_000

/** Lets time pass with heartbeats on each node. Each looks every 10 s. */
export const pass = async (
  nodes: readonly WatchingService[],
  ms: number,
  each: (nowMs: number) => Promise<void> = async () => {},
): Promise<void> => {
  const clock = nodes[0]?.clock
  for (let passedMs = stepMs; clock !== undefined && passedMs <= ms; passedMs += stepMs) {
    clock.advance(stepMs)
    await each(clock.now())
    for (const node of nodes) await node.schedule.advance(heartbeatMs)
    if (passedMs % lookEveryMs === 0) for (const node of nodes) await node.sweep()
  }
}

export const readingsOf = (racks: readonly string[], nowMs: number) =>
  racks.flatMap((rack) =>
    ['temperature', 'pressure'].map((keg) => ({
      cellar: testCellar,
      rack,
      keg,
      value: 21.5,
      timestamp: new Date(nowMs).toISOString(),
    })),
  )

/** Two racks send every minute. Then one stops until it is silent. */
export const stopRack = async (node: WatchingService) => {
  const { key, keyId } = await node.createKey()
  const alive = new Set(['rack-1', 'rack-2'])
  let sent = 0
  const each = async (nowMs: number): Promise<void> => {
    if (nowMs % minuteMs !== 0) return
    await node.postBatch(readingsOf([...alive], nowMs), key)
    sent += 2 * alive.size
    await node.untilFolded(keyId, sent)
  }
  await pass([node], 15 * minuteMs, each)
  alive.delete('rack-2')
  await pass([node], 12 * minuteMs, each)
  return { alive, each }
}

export const recordsIn = async (
  log: EventLog,
  stream = attentionStream(testCellar),
): Promise<readonly RecordedEvent<'AttentionChanged'>[]> =>
  (await log.read(stream, { limit: 1_000 })).flatMap((event) => (event.type === 'AttentionChanged' ? [event] : []))

/** Like `silent rack-1` or `silent rack-1/temperature`. */
export const lineText = ({ kind, rack, keg, keyId, node }: AttentionLine): string =>
  [kind, [rack, keg].filter((name) => name !== undefined).join('/'), keyId, node]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')

export const changesIn = async (log: EventLog, stream?: string) =>
  (await recordsIn(log, stream)).map(({ data }) => ({
    began: data.began.map(lineText),
    ended: data.ended.map(lineText),
    now: data.now.map(lineText),
  }))
