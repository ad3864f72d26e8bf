import type { AttentionParts } from '../../src/actors/attention/attention-watch.ts'
import type { Asker } from '../../src/actors/core-interface.ts'
import type { Derived } from '../../src/actors/node.ts'
import { type OpenCore, openCore } from '../../src/actors/open-core.ts'
import type { TimesTold } from '../../src/actors/time/clock-watch.ts'
import type { WebhookParts } from '../../src/actors/webhooks/webhook-parts.ts'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import type { Limit, RecordedEvent } from '../../src/domain/events.ts'
import { keyStream, readingsStream } from '../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import type { RepeatsIndex } from '../../src/log/repeats-index.ts'
import { type FaultyLog, faultyLog } from './logs/faulty-log.ts'
import { type LateLog, lateLog } from './logs/late-log.ts'
import { createMemoryLog } from './logs/memory-log.ts'
import { seededEntropy } from './seeded-entropy.ts'
import { type DrivenSchedule, drivenSchedule } from './time/driven-schedule.ts'
import { type ManualClock, manualClock } from './time/manual-clock.ts'

export const asker: Asker = { by: { kind: 'cli' }, requestId: 'request' }
export const cellar = 'wine-berlin'
export const reading = { cellar, rack: 'rack-1', keg: 'temperature', value: 21.5, timestamp: '2026-03-01T12:00:00Z' }

/** A node on a shared log. The test controls its faults, its timers, and when it hears of other nodes (`late`). */
export type TestNode = {
  readonly core: OpenCore
  readonly faults: FaultyLog
  readonly late: LateLog
  readonly schedule: DrivenSchedule
  readonly bugs: readonly unknown[]
  readonly times: readonly TimesTold[]
  post(keyId: string, count?: number): Promise<readonly Awaited<ReturnType<OpenCore['keys']['accept']>>[]>
}

type NodeOptions = {
  readonly skewMs?: number
  readonly clock?: ManualClock
  readonly idempotency?: RepeatsIndex
  readonly derived?: Derived
  /** Makes the node look for what needs attention, in `sweep`. It answers no question about cellars. */
  readonly attention?: AttentionParts
  readonly webhooks?: WebhookParts
}

/** Opens nodes on one log with one clock. */
export class Cluster {
  readonly log: EventLog = createMemoryLog()
  readonly clock: ManualClock = manualClock()
  #ids = 0
  #seeds = 0

  /**
   * Defaults: `clock` and `log` are the cluster's, and there are no `idempotency`, no `derived` and no `attention`.
   * `skewMs` is added to the node's clock.
   */
  async open(options: NodeOptions = {}, log: EventLog = this.log): Promise<TestNode> {
    const { skewMs = 0, clock: machine = this.clock, idempotency } = options
    const late = lateLog(log)
    const faults = faultyLog(late)
    const schedule = drivenSchedule()
    const bugs: unknown[] = []
    const times: TimesTold[] = []
    this.#seeds += 1
    const entropy = seededEntropy(this.#seeds)
    const clock = { ...machine, now: () => machine.now() + skewMs }
    const core = await openCore({
      log: faults,
      clock,
      entropy,
      schedule,
      ...(idempotency === undefined ? {} : { idempotency }),
      ...(options.derived === undefined ? {} : { derived: options.derived }),
      ...(options.attention === undefined
        ? {}
        : { attention: options.attention, questions: options.derived?.questions ?? questionsOfLog(faults, machine) }),
      ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
      onBug: (bug) => bugs.push(bug),
      onTimes: (told) => times.push(told),
    })
    return {
      core,
      faults,
      late,
      schedule,
      bugs,
      times,
      post: (keyId, count = 1) => {
        const asked = Array.from({ length: count }, () => core.keys.accept(keyId, reading, this.newId()))
        return schedule.until(Promise.all(asked))
      },
    }
  }

  /** Counts in the first digits of the id. Ids of a batch are counted in the last digits, so the two never collide. */
  newId(): string {
    this.#ids += 1
    return `${this.#ids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
  }

  async all(): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = []
    while (true) {
      const from = events.at(-1)?.position
      const page = await this.log.readAll({ limit: readPageEventsMax, ...(from === undefined ? {} : { from }) })
      events.push(...page)
      if (page.length < readPageEventsMax) return events
    }
  }

  async streams(keyId: string): Promise<{ key: readonly RecordedEvent[]; readings: readonly RecordedEvent[] }> {
    const all = await this.all()
    return {
      key: all.filter((event) => event.stream === keyStream(keyId)),
      readings: all.filter((event) => event.stream === readingsStream(keyId)),
    }
  }
}

export const makeTestKey = async (
  node: TestNode,
  options: { readonly limit?: Limit; readonly expiresAt?: number } = {},
): Promise<string> => {
  const { core, schedule } = node
  if (core.projections.cellars.get(cellar) === null) {
    await schedule.until(core.cellars.create({ cellar, title: '' }, asker))
  }
  const input = { cellar, label: '', note: '', limit: options.limit ?? null, expiresAt: options.expiresAt ?? null }
  const made = await schedule.until(core.keys.create(input, asker))
  if (!made.ok) throw new Error(`Cannot make a key for a test: ${made.refusal.kind}`)
  node.late.deliver()
  return made.value.state.keyId
}

export const typesOf = (events: readonly RecordedEvent[]): readonly string[] => events.map(({ type }) => type)
