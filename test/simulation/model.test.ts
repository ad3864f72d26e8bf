import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProjections } from '../../projections/projections.ts'
import type { Limit, RecordedEvent } from '../../src/domain/events.ts'
import { bodyHash, type IdempotentAppend, idempotentAppendAt } from '../../src/domain/reading/idempotency-key.ts'
import type { ReadingRefusal } from '../../src/domain/refusal.ts'
import { rotationOverlapsMs } from '../../src/limits.ts'
import { FakeRepeatsIndex } from '../support/fake-repeats-index.ts'
import { columnsOf } from '../support/logs/columns-of.ts'
import type { AppendFault } from '../support/logs/faulty-log.ts'
import { asker, Cluster, cellar, makeTestKey, reading, type TestNode } from '../support/two-nodes.ts'
import { acceptedIn, expectLawful, statesOf } from './naive.ts'

/** Every run uses a new seed and prints it. To repeat a failing run, set `SIMULATION_SEED` to its seed. */
const seed = Number(process.env['SIMULATION_SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])

type Place = 0 | 1

/** What the answers of the nodes have promised. At the end, the log must agree with all of it. */
type Promised = {
  readonly acknowledged: Map<string, { readonly keyId: string; readonly revision: number }>
  readonly refused: Set<string>
  /** Requests with an idempotency key that got an answer. `first` is the revision of their first reading. */
  readonly repeatable: StoredRequest[]
  readonly revoked: Set<string>
  /** Keys whose suspension was confirmed. An attempt to resume a key removes it, because its outcome can be unknown. */
  readonly suspended: Set<string>
}

type StoredRequest = {
  readonly keyId: string
  readonly keyHash: string
  readonly bodyHash: string
  readonly first: number
}

/** Two nodes share one log. They die and start again, at random. */
class System {
  readonly cluster = new Cluster()
  readonly keyIds: string[] = []
  readonly promised: Promised = {
    acknowledged: new Map(),
    refused: new Set(),
    repeatable: [],
    revoked: new Set(),
    suspended: new Set(),
  }
  #nodes: [TestNode, TestNode] | null = null
  /**
   * The index of idempotency keys of each place. A new node takes over the index of its place, unless a step loses it.
   */
  readonly #indexes: [FakeRepeatsIndex, FakeRepeatsIndex] = [this.#newIndex(), this.#newIndex()]

  async begin(): Promise<void> {
    this.#nodes = [await this.#open(0), await this.#open(1)]
    this.keyIds.push(await makeTestKey(this.node(0)))
    this.node(1).late.deliver()
  }

  node(place: Place): TestNode {
    if (this.#nodes === null) throw new Error('The system has not begun')
    return this.#nodes[place]
  }

  /** Asks a node. Returns `null` if the node dies before its answer; a new node then takes its place. */
  async ask<T>(place: Place, begin: (node: TestNode) => Promise<T>): Promise<T | null> {
    const node = this.node(place)
    const asked = begin(node)
    asked.catch(() => {})
    try {
      return await node.schedule.until(this.#orDeath(node, asked))
    } finally {
      expect(node.bugs).toEqual([])
      if (!node.faults.health().ok && this.node(place) === node) await this.replace(place)
    }
  }

  /**
   * Cuts the old node off from the log and starts a new one. The old node keeps its unfinished work, as a dying process
   * can.
   */
  async replace(place: Place, { losesIndex = false }: { readonly losesIndex?: boolean } = {}): Promise<void> {
    const old = this.node(place)
    old.faults.goAway()
    if (losesIndex) this.#indexes[place] = this.#newIndex()
    const fresh = await this.#open(place)
    if (this.#nodes !== null) this.#nodes[place] = fresh
  }

  /** The follower of the node commits what it has read. */
  async commit(place: Place, { isRebuilt }: { readonly isRebuilt: boolean }): Promise<void> {
    const index = this.#indexes[place]
    if (isRebuilt) index.lose()
    const [last] = await this.cluster.log.readAll({ direction: 'backwards', limit: 1 })
    // A rebuild is seldom done at once.
    await index.commit(isRebuilt ? (last?.position ?? 0) / 2 : (last?.position ?? 0))
  }

  #newIndex(): FakeRepeatsIndex {
    return new FakeRepeatsIndex(this.cluster.log)
  }

  /** The clock of the second node is 2.5 s slow, because nodes must not depend on equal clocks. */
  #open(place: Place): Promise<TestNode> {
    return this.cluster.open({ skewMs: place === 0 ? 0 : -2_500, idempotency: this.#indexes[place] })
  }

  #orDeath<T>(node: TestNode, asked: Promise<T>): Promise<T | null> {
    let isAnswered = false
    const answered = (): void => {
      isAnswered = true
    }
    asked.then(answered, answered)
    const died = async (): Promise<null> => {
      await node.schedule.quiet()
      while (node.faults.health().ok && !isAnswered) {
        await new Promise<void>((resolve) => node.schedule.after(1, resolve))
      }
      return null
    }
    // If the node answers and dies at the same time, the answer counts, because it was a promise.
    return Promise.race([asked, died()])
  }
}

type Step = fc.AsyncCommand<object, System, true>

const step = (name: string, run: (system: System) => Promise<void>): Step => ({
  check: async () => true,
  run: (_, system) => run(system),
  toString: () => name,
})

const place = fc.constantFrom<Place>(0, 1)
const pick = fc.nat({ max: 4 })
const keyOf = (system: System, index: number): string => system.keyIds[index % system.keyIds.length] ?? ''

/** True for refusals which promise that the reading is not stored. After others, it may be stored. */
const isDefinite = ({ kind }: ReadingRefusal): boolean =>
  kind === 'key_invalid' || kind === 'key_expired' || kind === 'rate_limited'

const post = async (system: System, at: { place: Place; keyId: string; count: number }): Promise<void> => {
  const { promised, cluster } = system
  const { keyId } = at
  const isTaken = promised.revoked.has(keyId) || promised.suspended.has(keyId)
  const ids = Array.from({ length: at.count }, () => cluster.newId())
  const answers = await system.ask(at.place, ({ core }) =>
    Promise.all(
      ids.map(async (id) => {
        const answer = await core.keys.accept(keyId, reading, id)
        if (answer.ok) promised.acknowledged.set(id, { keyId, revision: answer.value.first })
        else if (isDefinite(answer.refusal)) promised.refused.add(id)
        return answer
      }),
    ),
  )
  if (isTaken && answers !== null) for (const answer of answers) expect(answer.ok).toBe(false)
}

const posting = fc
  .record({ place, pick, count: fc.integer({ min: 1, max: 6 }) })
  .map(({ place, pick, count }) =>
    step(`post ${count} of key ${pick} to ${place}`, (system) =>
      post(system, { place, keyId: keyOf(system, pick), count }),
    ),
  )

const hashOf = (text: string): string => bodyHash(new TextEncoder().encode(text))

const postRepeatable = async (system: System, at: RepeatablePost & { readonly keyId: string }): Promise<void> => {
  const { promised, cluster } = system
  const { keyId, count } = at
  const requestId = cluster.newId()
  const keyHash = hashOf(at.name)
  const batch = at.payload === 'batch' ? { accepted: count, refusals: null } : null
  const idempotency = { keyHash, bodyHash: hashOf(`${at.payload} of ${count}`), batch }
  const readings = batch === null ? reading : columnsOf(Array.from({ length: count }, () => reading))
  const isTaken = promised.revoked.has(keyId) || promised.suspended.has(keyId)
  const answer = await system.ask(at.place, ({ core }) =>
    core.keys.acceptIdempotent(keyId, readings, { requestId, idempotency, refusal: null }),
  )
  if (answer === null) return
  if (isTaken) expect(answer.ok).toBe(false)
  if (answer.ok) {
    const { first, last, repeats } = answer.value
    expect(last - first + 1).toBe(batch === null ? 1 : count)
    promised.repeatable.push({ keyId, keyHash, bodyHash: idempotency.bodyHash, first })
    if (repeats === null) promised.acknowledged.set(requestId, { keyId, revision: first })
  } else if (isDefinite(answer.refusal) || isOfKey(answer.refusal)) promised.refused.add(requestId)
}

const isOfKey = ({ kind }: ReadingRefusal): boolean =>
  kind === 'idempotency_in_progress' || kind === 'idempotency_key_reused'

type RepeatablePost = {
  readonly place: Place
  readonly pick: number
  readonly name: string
  readonly payload: 'reading' | 'batch'
  readonly count: number
}

const repeatablePost = fc.record<RepeatablePost>({
  place,
  pick,
  name: fc.constantFrom('one', 'two', 'three'),
  payload: fc.constantFrom('reading', 'reading', 'batch'),
  count: fc.integer({ min: 1, max: 2 }),
})

const repeating = fc.oneof(
  repeatablePost.map((at) =>
    step(`post ${at.payload} ${at.name} of key ${at.pick} to ${at.place}`, (system) =>
      postRepeatable(system, { ...at, keyId: keyOf(system, at.pick) }),
    ),
  ),
  repeatablePost.map((at) =>
    step(`post ${at.payload} ${at.name} of key ${at.pick} to both`, async (system) => {
      const keyId = keyOf(system, at.pick)
      const places: readonly Place[] = [0, 1, at.place]
      await Promise.all(places.map((place) => postRepeatable(system, { ...at, place, keyId })))
    }),
  ),
)

const limits = fc.record({ readings: fc.integer({ min: 1, max: 8 }), windowMs: fc.constantFrom(1_000, 10_000) })

type Change = {
  readonly name: string
  run(system: System, at: { readonly place: Place; readonly keyId: string }): Promise<void>
}

const revoke: Change = {
  name: 'revoke',
  run: async (system, { place, keyId }) => {
    const answer = await system.ask(place, ({ core }) => core.keys.revoke(keyId, 'stolen', asker))
    if (answer?.ok) system.promised.revoked.add(keyId)
  },
}
const suspend: Change = {
  name: 'suspend',
  run: async (system, { place, keyId }) => {
    const answer = await system.ask(place, ({ core }) => core.keys.suspend(keyId, 'audit', asker))
    if (answer?.ok && answer.value.suspended !== null) system.promised.suspended.add(keyId)
  },
}
const resume: Change = {
  name: 'resume',
  run: async (system, { place, keyId }) => {
    system.promised.suspended.delete(keyId)
    await system.ask(place, ({ core }) => core.keys.resume(keyId, '', asker))
    system.promised.suspended.delete(keyId)
  },
}
const setLimit = (limit: Limit | null): Change => ({
  name: `set limit ${limit?.readings}/${limit?.windowMs}`,
  run: async (system, { place, keyId }) => {
    await system.ask(place, ({ core }) => core.keys.setLimit(keyId, limit, asker))
  },
})
const setExpiry = (inMs: number | null): Change => ({
  name: `set expiry in ${inMs}`,
  run: async (system, { place, keyId }) => {
    const expiresAt = inMs === null ? null : system.cluster.clock.now() + inMs
    await system.ask(place, ({ core }) => core.keys.setExpiry(keyId, expiresAt, asker))
  },
})

const rotate = (overlapMs: number): Change => ({
  name: `rotate with ${overlapMs} ms`,
  run: async (system, { place, keyId }) => {
    if (system.keyIds.length >= 5) return
    const made = await system.ask(place, ({ core }) => core.keys.rotate(keyId, { overlapMs }, asker))
    if (made?.ok) system.keyIds.push(made.value.state.keyId)
  },
})

const change = fc.oneof(
  { arbitrary: fc.constantFrom(suspend, resume), weight: 4 },
  { arbitrary: fc.constant(revoke), weight: 1 },
  { arbitrary: fc.option(limits).map(setLimit), weight: 3 },
  { arbitrary: fc.option(fc.integer({ min: -1_000, max: 20_000 })).map(setExpiry), weight: 2 },
  { arbitrary: fc.constantFrom(...rotationOverlapsMs).map(rotate), weight: 2 },
)

const changing = fc
  .record({ place, pick, change })
  .map(({ place, pick, change }) =>
    step(`${change.name} key ${pick} on ${place}`, (system) =>
      change.run(system, { place, keyId: keyOf(system, pick) }),
    ),
  )

/**
 * A node may let in readings while it resumes a key. So the key counts as not suspended before the change and the posts
 * begin.
 */
const meanwhile = fc.record({ place, pick, change }).map(({ place, pick, change }) =>
  step(`${change.name} key ${pick} on ${place} while both post`, async (system) => {
    const keyId = keyOf(system, pick)
    if (change === resume) system.promised.suspended.delete(keyId)
    await Promise.all([
      post(system, { place: 0, keyId, count: 3 }),
      change.run(system, { place, keyId }),
      post(system, { place: 1, keyId, count: 3 }),
    ])
  }),
)

const faults: fc.Arbitrary<AppendFault> = fc.constantFrom('not_written', 'unknown_not_written', 'unknown_written')

const failing = fc
  .record({ place, fault: faults, nth: fc.integer({ min: 1, max: 4 }), thenAway: fc.boolean() })
  .map(({ place, ...plan }) =>
    step(
      `append ${plan.nth} of ${place} will be ${plan.fault}${plan.thenAway ? ', and it dies' : ''}`,
      async (system) => system.node(place).faults.failAppend(plan),
    ),
  )

const others = fc.oneof(
  fc.constant(
    step('create a key', async (system) => {
      if (system.keyIds.length >= 3) return
      const input = { cellar, label: '', note: '', limit: { readings: 5, windowMs: 10_000 }, expiresAt: null }
      const made = await system.ask(0, ({ core }) => core.keys.create(input, asker))
      if (made?.ok) system.keyIds.push(made.value.state.keyId)
    }),
  ),
  fc
    .oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 500, max: 12_000 }), fc.integer({ min: -3_000, max: 0 }))
    .map((ms) => step(`${ms} ms pass`, async ({ cluster }) => cluster.clock.advance(ms))),
  place.map((at) => step(`${at} hears`, async (system) => system.node(at).late.deliver())),
  place.map((at) =>
    step(`${at} sweeps`, async (system) => {
      await system.ask(at, ({ core }) => core.sweep())
    }),
  ),
  place.map((at) => step(`${at} dies and starts again`, (system) => system.replace(at))),
  place.map((at) => step(`the index of ${at} commits`, (system) => system.commit(at, { isRebuilt: false }))),
  place.map((at) => step(`the index of ${at} is built again`, (system) => system.commit(at, { isRebuilt: true }))),
  place.map((at) => step(`${at} dies and loses its index`, (system) => system.replace(at, { losesIndex: true }))),
  place.map((at) =>
    step(`${at} drains and starts again`, async (system) => {
      await system.ask(at, ({ core }) => core.drain())
      await system.replace(at)
    }),
  ),
)

const steps = fc.commands<object, System, true>(
  [posting, posting, repeating, repeating, changing, meanwhile, failing, others, others],
  {
    maxCommands: 60,
    size: 'max',
  },
)

const isOf = (keyId: string) => (event: RecordedEvent) => event.stream.slice(event.stream.indexOf('-') + 1) === keyId

/** A new node, projections replayed from the start, and the plain rules of `naive.ts` must agree on the key. */
const expectAgreement = async (system: System, keyId: string): Promise<void> => {
  const { cluster, promised } = system
  const fresh = await cluster.open()
  const all = await cluster.all()
  const events = all.filter(isOf(keyId))
  const key = events.filter(({ stream }) => stream.startsWith('key-'))
  const readings = events.filter(({ stream }) => stream.startsWith('readings-'))
  expectLawful(key, readings)

  const accepted = readings.filter(({ type }) => type === 'ReadingAccepted')
  const times = accepted.map(({ recordedAt }) => recordedAt)
  const replayed = createProjections()
  replayed.fold(all)
  for (const { projections } of [fresh.core, { projections: replayed }]) {
    const state = statesOf(key).at(-1)
    const projected = projections.keys.get(keyId)
    expect(projected?.suspended !== null).toBe(state?.isSuspended ?? false)
    expect(projected?.revoked !== null).toBe(state?.isRevoked ?? false)
    expect(projected?.expiresAt).toBe(state?.expiresAt ?? null)
    expect(projected === null ? null : projections.keys.effectiveLimit(projected)).toEqual(state?.limit ?? null)
    expect(projections.readings.usage(keyId)?.accepted ?? 0).toBe(times.length)
    expect(projections.readings.usage(keyId)?.lastUsedAt).toBe(times.at(-1))
  }
  if (promised.revoked.has(keyId)) expect(statesOf(key).at(-1)?.isRevoked).toBe(true)
  if (readings.some(({ type }) => type === 'ReadingsSealed')) expect(statesOf(key).at(-1)?.isRevoked).toBe(true)
  const now = Math.max(cluster.clock.now(), ...readings.map(({ recordedAt }) => recordedAt))
  await expectVerdict(fresh, { keyId, key, times, now })
}

/**
 * Posts one more reading and checks the answer. The rate window counts readings in slots of `windowMs / 127`, so it may count
 * a reading for up to one slot too long. If the limit is reached only because of such readings, both answers are right.
 */
const expectVerdict = async (
  node: TestNode,
  at: { keyId: string; key: readonly RecordedEvent[]; times: readonly number[]; now: number },
): Promise<void> => {
  const state = statesOf(at.key).at(-1)
  if (state === undefined) throw new Error(`The log holds no key "${at.keyId}"`)
  const usage = await node.schedule.until(Promise.resolve(node.core.keys.usage(at.keyId)))
  const { readings, windowMs } = state.limit
  const [least, most] = [windowMs, Math.ceil((windowMs * 128) / 127)].map((ms) => acceptedIn(at.times, at.now, ms))
  if (!state.isRevoked) {
    expect(usage?.used).toBeGreaterThanOrEqual(least ?? 0)
    expect(usage?.used).toBeLessThanOrEqual(most ?? 0)
  }
  const [answer] = await node.post(at.keyId)
  const verdict = answer?.ok === false ? answer.refusal.kind : 'accepted'
  if (state.isRevoked || state.isSuspended) expect(verdict).toBe('key_invalid')
  else if (state.expiresAt !== null && at.now >= state.expiresAt) expect(verdict).toBe('key_expired')
  else if ((least ?? 0) >= readings) expect(verdict).toBe('rate_limited')
  else if ((most ?? 0) < readings) expect(verdict).toBe('accepted')
}

/** An idle node may count only stored readings. Otherwise a reading that was never stored would use up the limit. */
const expectNoPlaceLost = async (system: System, keyId: string): Promise<void> => {
  for (const place of [0, 1] as const) {
    const node = system.node(place)
    await node.schedule.advance(2_000)
    const usage = await node.schedule.until(Promise.resolve(node.core.keys.usage(keyId)))
    if (usage === null) continue
    const sinceMs = node.core.clock.now() - Math.ceil((usage.limit.windowMs * 128) / 127)
    const readings = (await system.cluster.streams(keyId)).readings
    const counted = readings.filter((event) => event.type === 'ReadingAccepted' && event.recordedAt > sinceMs)
    expect(usage.used).toBeLessThanOrEqual(counted.length)
  }
}

const expectPromisesKept = async ({ cluster, promised }: System): Promise<void> => {
  const all = await cluster.all()
  const byId = new Map(all.map((event) => [event.id, event]))
  expect(byId.size).toBe(all.length)
  for (const [id, { keyId, revision }] of promised.acknowledged) {
    expect(byId.get(id)).toMatchObject({ stream: `readings-${keyId}`, revision, type: 'ReadingAccepted' })
  }
  for (const id of promised.refused) expect(byId.has(id)).toBe(false)
  const stored = new Map<string, IdempotentAppend>()
  for (const append of all.map(idempotentAppendAt)) {
    if (append === null) continue
    const name = `${append.stream} ${append.idempotency.keyHash}`
    // No run lasts a day, so each idempotency key is still known and may be stored only once for each stream.
    expect(stored.has(name)).toBe(false)
    stored.set(name, append)
  }
  for (const { keyId, keyHash, bodyHash, first } of promised.repeatable) {
    const append = stored.get(`readings-${keyId} ${keyHash}`)
    expect([append?.revision, append?.idempotency.bodyHash]).toEqual([first, bodyHash])
  }
}

/** Each rotated key ends once: at its successor's first reading plus the overlap, but never after its own expiry. */
const expectRotationsEnded = async ({ cluster }: System): Promise<number> => {
  const fresh = await cluster.open()
  expect(fresh.bugs).toEqual([])
  const all = await cluster.all()
  const firstReading = (keyId: string) =>
    all.find(({ stream, type }) => stream === `readings-${keyId}` && type === 'ReadingAccepted')
  const ends = all.filter((event) => event.type === 'KeySuperseded')
  for (const end of ends) {
    const { successorId, usedAt, expiresAt } = end.data
    const before = all.filter(({ stream, revision }) => stream === end.stream && revision < end.revision)
    const rotated = before.findLast(({ type }) => type === 'KeyRotated')
    expect(rotated?.data).toMatchObject({ successorId })
    const overlapMs = rotated?.type === 'KeyRotated' ? rotated.data.overlapMs : Number.NaN
    const own = statesOf(before).at(-1)?.expiresAt ?? Number.POSITIVE_INFINITY
    expect(expiresAt).toBe(Math.min(own, usedAt + overlapMs))
    const cause = all.find(({ id }) => id === end.metadata.causationId)
    expect([cause?.type, cause?.recordedAt]).toEqual(['ReadingAccepted', usedAt])
    const wasSupersededBefore = before.slice(rotated?.revision).some(({ type }) => type === 'KeySuperseded')
    expect(wasSupersededBefore).toBe(false)
  }
  for (const { keyId, revoked, rotation } of fresh.core.projections.keys.list()) {
    if (revoked !== null || rotation === null || firstReading(rotation.successorId) === undefined) continue
    expect([keyId, rotation.superseded]).toEqual([keyId, expect.anything()])
  }
  return ends.length
}

test('two nodes keep every promise of their answers, wherever they die', async () => {
  console.info(`SIMULATION_SEED=${seed}`)
  let readings = 0
  let repeats = 0
  let ended = 0
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      const system = new System()
      await system.begin()
      await fc.asyncModelRun(() => ({ model: {}, real: system }), commands)
      await expectPromisesKept(system)
      ended += await expectRotationsEnded(system)
      for (const keyId of system.keyIds) {
        await expectNoPlaceLost(system, keyId)
        await expectAgreement(system, keyId)
      }
      readings += system.promised.acknowledged.size
      repeats += system.promised.repeatable.length
    }),
    { seed, numRuns: 5_000 },
  )
  expect(readings).toBeGreaterThan(1_000)
  expect(repeats).toBeGreaterThan(1_000)
  expect(ended).toBeGreaterThan(100)
}, 600_000)
