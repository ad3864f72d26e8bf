/**
 * Two nodes look for silence while they are killed, restarted, cut off from the log, and hear late of each other. A plain oracle
 * says from the accepted readings alone what must be recorded, and what must not.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { setImmediate as turn } from 'node:timers/promises'
import { covers, lineId } from '../../src/domain/attention/attention-lines.ts'
import type { Excused, RememberedExcuses } from '../../src/domain/attention/excused-times.ts'
import { minuteMs } from '../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { attentionStream } from '../../src/domain/stream-names.ts'
import { heartbeatMs } from '../../src/limits.ts'
import { recordsIn } from '../support/attention/watched-racks.ts'
import { type DerivedHere, derivedHere } from '../support/derived/derived-here.ts'
import { timesToTry } from '../support/long-trials.ts'
import { seededNumbers } from '../support/seeded-entropy.ts'
import { asker, Cluster, cellar, makeTestKey, reading, type TestNode } from '../support/two-nodes.ts'

setDefaultTimeout(600_000)

/** To repeat a failing run, set `SIMULATION_SEED` to its seed. */
const firstSeed = Number(process.env['SIMULATION_SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])

const kegs = ['temperature', 'pressure']
const afterMs = 10 * minuteMs
const stepMs = 5_000
const lookEveryMs = 10_000
/** A node that has run undisturbed for this time must have found what there is. */
const findMs = 90_000
/** Excused times begin at most this long before a node stops, and last this long after it runs again. */
const beforeMs = 20_000
const graceMs = 80_000

type Running = { readonly node: TestNode; readonly derived: DerivedHere }

/** Where one node runs after the other. */
class Place {
  running: Running | null = null
  remembered: RememberedExcuses | null = null
  /** It was down, or had no log. */
  readonly downs: Excused[] = []
  downSinceMs: number | null = null
  isLate = false
  clearSinceMs = 0

  isServing(): boolean {
    return this.running !== null && this.downSinceMs === null
  }

  goDown(nowMs: number): void {
    this.downSinceMs ??= nowMs
  }

  comeUp(nowMs: number): void {
    if (this.downSinceMs !== null) this.downs.push([this.downSinceMs, nowMs])
    this.downSinceMs = null
    this.clearSinceMs = nowMs
  }

  /** How long it was down since then, each time made longer by what the node may add. */
  downMs(sinceMs: number, nowMs: number, longer: { before: number; after: number }): number {
    const all = this.downSinceMs === null ? this.downs : [...this.downs, [this.downSinceMs, nowMs] as const]
    let ms = 0
    let from = sinceMs
    for (const [fromMs, toMs] of all) {
      const [began, ended] = [Math.max(from, fromMs - longer.before), Math.min(nowMs, toMs + longer.after)]
      if (ended <= began) continue
      ms += ended - began
      from = ended
    }
    return ms
  }
}

class Rack {
  readonly name: string
  acceptedMs = 0
  /** It has sent each minute since then. */
  steadyFromMs = 0
  isAlive = true
  isTold = false

  constructor(name: string) {
    this.name = name
  }
}

class Silence {
  readonly cluster = new Cluster()
  readonly places = [new Place(), new Place()] as const
  readonly racks = ['rack-1', 'rack-2', 'rack-3'].map((name) => new Rack(name))
  readonly #next: () => number
  readonly #opened: Running[] = []
  #keyId = ''

  constructor(seed: number) {
    this.#next = seededNumbers(seed)
  }

  chance(part: number): boolean {
    return this.#next() % 10_000 < part * 10_000
  }

  get nowMs(): number {
    return this.cluster.clock.now()
  }

  async begin(): Promise<void> {
    for (const place of this.places) await this.open(place)
    const [{ running }] = this.places
    if (running === null) throw new Error('impossible')
    const { core, schedule } = running.node
    this.#keyId = await makeTestKey(running.node)
    await schedule.until(core.attention.setRule(cellar, { rack: null, keg: null, after: afterMs }, asker))
    await this.send()
  }

  async open(place: Place): Promise<void> {
    const { log, clock } = this.cluster
    const derived = derivedHere(log, { clock, passedMs: clock.passedMs })
    const attention = {
      node: `node-${this.places.indexOf(place)}`,
      isRefusing: () => place.downSinceMs !== null && place.running !== null,
      nodeLines: () => null,
      excuses: {
        read: async () => place.remembered,
        write: async (remembered: RememberedExcuses) => {
          place.remembered = structuredClone(remembered)
        },
      },
    }
    const node = await this.cluster.open({ derived, attention })
    place.running = { node, derived }
    place.isLate = false
    place.comeUp(this.nowMs)
    this.#opened.push(place.running)
  }

  /** Without an end: what the node was doing stops in the middle. */
  async kill(place: Place): Promise<void> {
    const { running } = place
    if (running === null) return
    void running.node.core.sweep().catch(() => {})
    for (let turns = this.#next() % 4; turns > 0; turns -= 1) await turn()
    running.node.faults.goAway()
    place.running = null
    place.goDown(this.nowMs)
  }

  async stop(place: Place): Promise<void> {
    const { running } = place
    if (running === null) return
    await running.node.schedule.until(running.node.core.drain())
    place.running = null
    place.goDown(this.nowMs)
  }

  async disturb(): Promise<void> {
    for (const rack of this.racks) if (this.chance(rack.isAlive ? 0.003 : 0.004)) rack.isAlive = !rack.isAlive
    const isStoreAway = this.chance(0.001)
    for (const place of this.places) await this.#disturb(place, isStoreAway)
  }

  async #disturb(place: Place, isStoreAway: boolean): Promise<void> {
    const { running } = place
    if (running === null) {
      if (this.chance(0.03)) await this.open(place)
      return
    }
    const { faults } = running.node
    if (place.downSinceMs !== null) {
      if (!this.chance(0.01)) return
      faults.comeBack()
      place.comeUp(this.nowMs)
    } else if (isStoreAway || this.chance(0.001)) {
      faults.goAway()
      place.goDown(this.nowMs)
    } else if (this.chance(0.002)) await this.kill(place)
    else if (this.chance(0.0015)) await this.stop(place)
    else if (this.chance(0.01)) {
      const kinds = ['not_written', 'unknown_not_written', 'unknown_written'] as const
      faults.failAppend({ fault: kinds[this.#next() % 3] ?? 'not_written' })
    } else if (this.chance(place.isLate ? 0.01 : 0.002)) {
      place.isLate = !place.isLate
      place.clearSinceMs = this.nowMs
    }
  }

  async send(): Promise<void> {
    const serving = this.places.filter((place) => place.isServing())
    const { running = null } = serving[this.#next() % Math.max(1, serving.length)] ?? {}
    if (running === null) return
    const { core, schedule } = running.node
    const sending = this.racks.filter(({ isAlive }) => isAlive)
    const timestamp = new Date(this.nowMs).toISOString()
    let waiting = sending.flatMap(({ name: rack }) => kegs.map((keg) => ({ ...reading, rack, keg, timestamp })))
    // A device tries again after a refusal.
    for (let tries = 0; waiting.length > 0; tries += 1) {
      const asked = waiting.map((one) => core.keys.accept(this.#keyId, one, this.cluster.newId()))
      const answers = await schedule.until(Promise.all(asked))
      waiting = waiting.filter((_, at) => answers[at]?.ok !== true)
      expect(tries).toBeLessThan(5)
    }
    for (const rack of sending) {
      if (this.nowMs - rack.acceptedMs > minuteMs) rack.steadyFromMs = this.nowMs
      rack.acceptedMs = this.nowMs
    }
  }

  async look(isDue: boolean): Promise<void> {
    const all = this.places.flatMap((place) => (place.running === null ? [] : [{ place, running: place.running }]))
    for (const { place, running } of all) if (!place.isLate) running.node.late.deliver()
    // The follower writes its files every few seconds of real time.
    for (const { running } of all) await running.derived.store.upTo('readings')
    for (const { running } of all) await running.node.schedule.advance(heartbeatMs)
    if (isDue) await Promise.all(all.map(({ running: { node } }) => node.schedule.until(node.core.sweep())))
  }

  /** Compares the last record with what the oracle knows. */
  async judge(): Promise<void> {
    const last = (await this.records()).at(-1)
    for (const rack of this.racks) {
      const lines = kegs.map((keg) => ({ kind: 'silent', rack: rack.name, keg }) as const)
      const told = lines.filter((keg) => last?.data.now.some((line) => covers(line, keg)) === true).length
      const wrong = this.#wrongOf(rack, told)
      if (wrong !== null) throw new Error(`${rack.name} ${wrong} at ${this.nowMs}`)
      rack.isTold = told > 0
    }
  }

  /** `told`: how many of its kegs. The others of a rack count as silent with it after half of their time. */
  #wrongOf({ acceptedMs, steadyFromMs, isTold }: Rack, told: number): string | null {
    const { nowMs, places } = this
    const overMs = nowMs - acceptedMs
    const least = Math.min(...places.map((place) => place.downMs(acceptedMs, nowMs, { before: 0, after: 0 })))
    if (told > 0 && !isTold && overMs - least <= afterMs / 2) return 'is told too early'
    if (told === 0 && isTold && overMs > afterMs) return 'has ended without a reading'
    const undisturbed = places.filter(
      (place) => place.isServing() && !place.isLate && nowMs - place.clearSinceMs > findMs,
    )
    const excused = undisturbed.map((place) => place.downMs(acceptedMs, nowMs, { before: beforeMs, after: graceMs }))
    if (told < kegs.length && overMs - Math.min(...excused) > afterMs + findMs) return 'is silent, and not told'
    const isBack = overMs < 2 * minuteMs && nowMs - steadyFromMs > findMs
    return told > 0 && isBack && undisturbed.length > 0 ? 'has sent, and is still told' : null
  }

  records(): Promise<readonly RecordedEvent<'AttentionChanged'>[]> {
    return recordsIn(this.cluster.log, attentionStream(cellar))
  }

  async calm(): Promise<void> {
    for (const place of this.places) {
      if (place.running === null) await this.open(place)
      place.running?.node.faults.comeBack()
      if (place.downSinceMs !== null) place.comeUp(this.nowMs)
      place.isLate = false
    }
    for (const rack of this.racks) rack.isAlive = true
  }

  async pass(ms: number, isCalm = false): Promise<void> {
    for (let passedMs = stepMs; passedMs <= ms; passedMs += stepMs) {
      this.cluster.clock.advance(stepMs)
      if (!isCalm) await this.disturb()
      if (this.nowMs % minuteMs === 0) await this.send()
      await this.look(passedMs % lookEveryMs === 0)
      await this.judge()
    }
  }

  async end(): Promise<void> {
    for (const { node, derived } of this.#opened) {
      node.faults.goAway()
      await derived.store.stop()
      derived.remove()
    }
  }
}

const expectEachOnce = (records: readonly RecordedEvent<'AttentionChanged'>[]): void => {
  let before = ''
  for (const { data } of records) {
    const ids = JSON.stringify(data.now.map(lineId).toSorted())
    expect(ids).not.toBe(before)
    before = ids
  }
}

test('two nodes miss no silence, and record each change once', async () => {
  for (let seed = firstSeed; seed < firstSeed + timesToTry(3, 200); seed += 1) {
    const silence = new Silence(seed)
    try {
      await silence.begin()
      await silence.pass(180 * minuteMs)
      await silence.calm()
      await silence.pass(6 * minuteMs, true)
      const records = await silence.records()
      expect(records.at(-1)?.data.now ?? []).toEqual([])
      expectEachOnce(records)
    } catch (fault) {
      throw new Error(`SIMULATION_SEED=${seed}`, { cause: fault })
    } finally {
      await silence.end()
    }
  }
})
