import { describe, expect, test } from 'bun:test'
import { sealTriesMax } from '../../../src/actors/key/change-key.ts'
import { farTurnMs } from '../../../src/actors/key/stream-sharing.ts'
import { requestWaitMsMax } from '../../../src/actors/node.ts'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import { keyStream, readingsStream } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { type Distance, distantLog } from '../../support/logs/distant-log.ts'
import { faultyLog } from '../../support/logs/faulty-log.ts'
import { createMemoryLog } from '../../support/logs/memory-log.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { asker, cellar, reading, typesOf } from '../../support/two-nodes.ts'

type Load = { accepted: number; refused: string[]; stop(): void }

/** One store, and nodes at several distances from it. All nodes use the same clock. */
class Network {
  readonly inner: EventLog = createMemoryLog()
  readonly schedule: DrivenSchedule = drivenSchedule()
  readonly bugs: unknown[] = []
  readonly #clock = manualClock()
  readonly #chance = seededEntropy(77)
  #nodes = 0
  #requests = 0

  async open(distance: Distance, log = this.far(distance)): Promise<OpenCore> {
    this.#nodes += 1
    return this.schedule.until(
      openCore({
        log,
        clock: {
          now: () => this.#clock.now() + Math.floor(this.schedule.nowMs),
          passedMs: () => this.schedule.nowMs,
        },
        entropy: seededEntropy(this.#nodes),
        schedule: this.schedule,
        onBug: (bug) => this.bugs.push(bug),
      }),
    )
  }

  far(distance: Distance): EventLog {
    return distantLog(this.inner, this.schedule, distance)
  }

  readonly chance = (): number => (this.#chance.bytes(1)[0] ?? 0) / 255

  async makeKey(core: OpenCore): Promise<string> {
    await this.schedule.until(core.cellars.create({ cellar, title: '' }, asker))
    const input = { cellar, label: '', note: '', limit: { readings: 1_000_000, windowMs: 60_000 }, expiresAt: null }
    const made = await this.schedule.until(core.keys.create(input, asker))
    await this.schedule.advance(1_000)
    if (!made.ok) throw new Error(`Cannot make a key for a test: ${made.refusal.kind}`)
    return made.value.state.keyId
  }

  post(core: OpenCore, keyId: string) {
    this.#requests += 1
    const id = `${this.#requests.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
    return core.keys.accept(keyId, reading, id)
  }

  load(core: OpenCore, keyId: string, devices: number): Load {
    let isOn = true
    const load: Load = {
      accepted: 0,
      refused: [],
      stop: () => {
        isOn = false
      },
    }
    const device = async (): Promise<void> => {
      while (isOn) {
        const answer = await this.post(core, keyId)
        if (answer.ok) load.accepted += 1
        else {
          load.refused.push(answer.refusal.kind)
          await new Promise<void>((resolve) => this.schedule.after(10, resolve))
        }
      }
    }
    for (let begun = 0; begun < devices; begun += 1) void device()
    return load
  }

  async history(keyId: string) {
    const key = await this.inner.read(keyStream(keyId), { direction: 'forwards', limit: readPageEventsMax })
    const [last] = await this.inner.read(readingsStream(keyId), { direction: 'backwards', limit: 1 })
    return { key, last }
  }
}

const openFar = async (ways: Ways, { nearNodes = 1, leaveTurns = true } = {}) => {
  const network = new Network()
  const chance = ways.jitter === 'steady' ? () => 0.5 : network.chance
  const nearBy = { oneWayMs: ways.nearMs, commitMs: ways.commitMs, chance }
  const near: OpenCore[] = []
  while (near.length < nearNodes) {
    near.push(await network.open(nearBy, { ...network.far(nearBy), lags: leaveTurns }))
  }
  const farAway = { ...nearBy, oneWayMs: ways.farMs }
  const faults = faultyLog(network.far(farAway))
  const far = await network.open(farAway, faults)
  const keyId = await network.makeKey(far)
  const loads = near.map((core) => network.load(core, keyId, 4))
  await network.schedule.advance(2_000)
  return { network, near: near[0] ?? far, far, faults, farAway, keyId, loads }
}

type Ways = { nearMs: number; farMs: number; commitMs: number; jitter: 'steady' | 'uneven' }

const reviewed: Ways = { nearMs: 1, farMs: 5, commitMs: 3, jitter: 'uneven' }

const distances = [
  { nearMs: 1, farMs: 2, commitMs: 0 },
  { nearMs: 1, farMs: 5, commitMs: 0 },
  { nearMs: 1, farMs: 5, commitMs: 3 },
  { nearMs: 1, farMs: 10, commitMs: 3 },
  { nearMs: 15, farMs: 20, commitMs: 0 },
].flatMap((ways): Ways[] => [
  { ...ways, jitter: 'steady' },
  { ...ways, jitter: 'uneven' },
])

describe.each(distances)('at $farMs ms, $nearMs ms for others ($commitMs ms, $jitter)', (ways) => {
  describe.each([1, 2])('with %d', (nearNodes) => {
    test('revokes a key', async () => {
      const { network, far, keyId, loads } = await openFar(ways, { nearNodes })
      const revoked = await network.schedule.until(far.keys.revoke(keyId, 'stolen', asker), requestWaitMsMax)
      expect(revoked).toMatchObject({ ok: true, value: { revoked: { reason: 'stolen', by: asker.by } } })
      for (const load of loads) load.stop()
      const { key, last } = await network.history(keyId)
      expect(key.at(-1)).toMatchObject({ type: 'KeyRevoked', data: { sealId: last?.id } })
      expect(last?.type).toBe('ReadingsSealed')
      expect(network.bugs).toEqual([])
    })

    test('lowers a limit', async () => {
      const { network, far, keyId, loads } = await openFar(ways, { nearNodes })
      const limit = { readings: 900_000, windowMs: 60_000 }
      const changed = await network.schedule.until(far.keys.setLimit(keyId, limit, asker), requestWaitMsMax)
      expect(changed).toMatchObject({ ok: true, value: { limit } })
      for (const load of loads) load.stop()
    })

    test('stores readings', async () => {
      const { network, far, keyId, loads } = await openFar(ways, { nearNodes })
      const load = network.load(far, keyId, 1)
      await network.schedule.advance(10_000)
      for (const each of [load, ...loads]) {
        each.stop()
        expect(each.accepted).toBeGreaterThan(4)
      }
    })
  })
})

describe('a revocation after many conflicts', () => {
  test('suspends the key first, with its reason and asker', async () => {
    const { network, far, keyId, loads } = await openFar(reviewed, { leaveTurns: false })
    await network.schedule.until(far.keys.revoke(keyId, 'stolen', asker))
    const before = loads.map(({ accepted }) => accepted)
    await network.schedule.advance(1_000)
    expect(loads.map(({ accepted }) => accepted)).toEqual(before)
    for (const load of loads) load.stop()
    const { key } = await network.history(keyId)
    expect(typesOf(key)).toEqual(['KeyCreated', 'KeySuspended', 'KeyRevoked'])
    const [, suspended] = key
    expect(suspended).toMatchObject({
      data: { reason: 'stolen' },
      metadata: { by: asker.by, requestId: asker.requestId },
    })
  })

  test('succeeds although another admin resumes the key', async () => {
    const ways = { ...reviewed, farMs: 10, commitMs: 0 }
    const { network, near, far, keyId, loads } = await openFar(ways, { leaveTurns: false })
    const resume = async (): Promise<void> => {
      const { ok } = await near.keys.resume(keyId, '', asker)
      // If the key is not suspended yet, there is nothing to resume. Then the resume is tried again.
      if (!ok || !typesOf((await network.history(keyId)).key).includes('KeyResumed')) network.schedule.after(1, resume)
    }
    void resume()
    const revoked = await network.schedule.until(far.keys.revoke(keyId, 'stolen', asker), requestWaitMsMax)
    expect(revoked.ok).toBe(true)
    for (const load of loads) load.stop()
    const { key, last } = await network.history(keyId)
    const twice = ['KeySuspended', 'KeyResumed', 'KeySuspended']
    expect(typesOf(key)).toEqual(['KeyCreated', ...twice, 'KeyRevoked'])
    expect(last?.type).toBe('ReadingsSealed')
  })

  test('leaves the key suspended if its node dies', async () => {
    const { network, far, faults, farAway, keyId, loads } = await openFar(reviewed, { leaveTurns: false })
    faults.failAppend({ fault: 'unknown_written', nth: sealTriesMax + 1, thenAway: true })
    void far.keys.revoke(keyId, 'stolen', asker)
    await network.schedule.advance(1_000)
    expect(typesOf((await network.history(keyId)).key)).toEqual(['KeyCreated', 'KeySuspended'])
    const [load] = loads
    const accepted = load?.accepted
    await network.schedule.advance(1_000)
    expect(load?.accepted).toBe(accepted)
    expect(load?.refused.at(-1)).toBe('key_invalid')
    load?.stop()

    const other = await network.open(farAway)
    const revoked = await network.schedule.until(other.keys.revoke(keyId, 'stolen', asker))
    expect(revoked.ok).toBe(true)
    expect(typesOf((await network.history(keyId)).key)).toEqual(['KeyCreated', 'KeySuspended', 'KeyRevoked'])
  })

  test('is not_confirmed when the store goes away after the suspension', async () => {
    const { network, far, faults, keyId, loads } = await openFar(reviewed, { leaveTurns: false })
    faults.failAppend({ fault: 'not_written', nth: sealTriesMax + 2, thenAway: true })
    const answer = await network.schedule.until(far.keys.revoke(keyId, 'stolen', asker))
    expect(answer).toEqual({ ok: false, refusal: { kind: 'not_confirmed' } })
    for (const load of loads) load.stop()
  })
})

describe('a node alone on a shared log', () => {
  const ways = { oneWayMs: 1, commitMs: 3 }

  const acceptedIn10s = async (log: (network: Network) => EventLog): Promise<number> => {
    const network = new Network()
    const core = await network.open(ways, log(network))
    const load = network.load(core, await network.makeKey(core), 4)
    await network.schedule.advance(10_000)
    load.stop()
    return load.accepted
  }

  test('loses at most a tenth of its throughput', async () => {
    const alone = await acceptedIn10s((network) => ({ ...network.far(ways), lags: false }))
    const shared = await acceptedIn10s((network) => network.far(ways))
    // An append takes 5 ms: 1 ms each way and 3 ms for the commit. Each append stores four readings, so 10 s have room for
    // 8,000 readings.
    expect(alone).toBeGreaterThanOrEqual(7_990)
    expect(shared).toBeLessThan(alone)
    expect(shared).toBeGreaterThan(alone * 0.9)
  })

  test('does not delay a key that rests', async () => {
    const network = new Network()
    const core = await network.open(ways)
    const keyId = await network.makeKey(core)
    await network.schedule.until(network.post(core, keyId))
    await network.schedule.advance(farTurnMs)
    for (let posted = 0; posted < 100; posted += 1) {
      const answer = await network.schedule.until(network.post(core, keyId), 5)
      expect(answer.ok).toBe(true)
      await network.schedule.advance(farTurnMs - 5)
    }
  })
})
