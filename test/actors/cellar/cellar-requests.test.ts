import { describe, expect, test } from 'bun:test'
import { keysPerCellarMax } from '../../../src/actors/cellar/cellar-actor.ts'
import { unitsPerCellarMax } from '../../../src/domain/cellar.ts'
import type { Metadata, NewEvent } from '../../../src/domain/events.ts'
import { parseKey, secretMatches } from '../../../src/domain/key-format.ts'
import { cellarStream, keyStream } from '../../../src/domain/stream-names.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { asker, Cluster, cellar, typesOf } from '../../support/two-nodes.ts'

const newKey = { cellar, label: '', note: '', limit: null, expiresAt: null }

describe('a cellar', () => {
  test('is created by one of two nodes that try at once', async () => {
    const cluster = new Cluster()
    const [one, two] = [await cluster.open(), await cluster.open()]
    const answers = await Promise.all(
      [one, two].map(({ core, schedule }) => schedule.until(core.cellars.create({ cellar, title: 'Berlin' }, asker))),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(answers.filter(({ ok }) => !ok)).toEqual([{ ok: false, refusal: { kind: 'cellar_exists' } }])
    expect(typesOf(await cluster.all())).toEqual(['CellarCreated'])
  })

  test('has its identifier as default title, and is renamed on any node', async () => {
    const cluster = new Cluster()
    const [one, two] = [await cluster.open(), await cluster.open()]
    expect(await one.core.cellars.create({ cellar, title: ' ' }, asker)).toMatchObject({ value: { title: cellar } })
    expect(await two.core.cellars.rename(cellar, 'Berlin', asker)).toMatchObject({ value: { title: 'Berlin' } })
    expect(await one.core.cellars.rename(cellar, 'Köln', asker)).toMatchObject({ value: { title: 'Köln' } })
    expect(await one.core.cellars.rename(cellar, 'Köln', asker)).toMatchObject({ value: { revision: 2 } })
    expect(one.core.projections.cellars.get(cellar)?.title).toBe('Köln')
    expect(await one.core.cellars.rename('nowhere', 'x', asker)).toMatchObject({
      refusal: { kind: 'cellar_not_found' },
    })
  })

  test('gets units on two nodes at once, and appends none twice', async () => {
    const cluster = new Cluster()
    const [one, two] = [await cluster.open(), await cluster.open()]
    await one.core.cellars.create({ cellar, title: '' }, asker)
    const temperature = { keg: 'temperature', unit: ' °C ' }
    const sent = [
      one.core.cellars.setUnit(cellar, temperature, asker),
      two.core.cellars.setUnit(cellar, temperature, asker),
      two.core.cellars.setUnit(cellar, { keg: 'pressure', unit: 'bar' }, asker),
    ]
    const answers = await Promise.all(sent.map((answer, at) => (at === 0 ? one : two).schedule.until(answer)))
    expect(answers.every(({ ok }) => ok)).toBe(true)
    expect(typesOf(await cluster.all())).toEqual(['CellarCreated', 'CellarUnitSet', 'CellarUnitSet'])
    const units = new Map([
      ['temperature', '°C'],
      ['pressure', 'bar'],
    ])
    expect(await two.core.cellars.setUnit(cellar, temperature, asker)).toMatchObject({ value: { units, revision: 2 } })
    expect(await one.core.cellars.setUnit(cellar, { keg: 'pressure', unit: '' }, asker)).toMatchObject({
      value: { units: new Map([['temperature', '°C']]), revision: 3 },
    })
    expect(await one.core.cellars.setUnit('nowhere', temperature, asker)).toMatchObject({
      refusal: { kind: 'cellar_not_found' },
    })
  })

  test('keeps its bound of units on two nodes at once', async () => {
    const cluster = new Cluster()
    const [one, two] = [await cluster.open(), await cluster.open()]
    await one.core.cellars.create({ cellar, title: '' }, asker)
    for (let at = 1; at < unitsPerCellarMax; at += 1)
      await one.core.cellars.setUnit(cellar, { keg: `keg ${at}`, unit: 'bar' }, asker)
    const answers = await Promise.all(
      [one, two].map((node, at) =>
        node.schedule.until(node.core.cellars.setUnit(cellar, { keg: `new ${at}`, unit: 'bar' }, asker)),
      ),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(answers).toContainEqual({ ok: false, refusal: { kind: 'too_many_units', unitsMax: unitsPerCellarMax } })
    expect(await cluster.log.read(cellarStream(cellar), { from: unitsPerCellarMax, limit: 2 })).toHaveLength(1)
  })

  test('is not folded from its first event, however long its stream', async () => {
    const cluster = new Cluster()
    const stream = cellarStream(cellar)
    const first = await cluster.open()
    await first.core.cellars.create({ cellar, title: '' }, asker)
    const metadata: Metadata = { ...asker, correlationId: '', causationId: '' }
    const purge = { keyId: '7Qp2mZ4k', cellar, firstRevision: 0, lastRevision: 0, readings: 0, acceptedBefore: 0 }
    const latestMs = cluster.clock.now() + 60_000
    const purges = Array.from({ length: 2_000 }, (_, index): NewEvent => {
      const data = { ...purge, lastAcceptedAt: 0 }
      return { id: `purge-${index}`, type: 'ReadingsPurged', recordedAt: latestMs, data, metadata }
    })
    await cluster.log.append(stream, 0, purges)

    let eventsRead = 0
    const counting: EventLog = {
      ...passingLog(cluster.log),
      read: async (of, options) => {
        const events = await cluster.log.read(of, options)
        if (of === stream) eventsRead += events.length
        return events
      },
    }
    const later = await cluster.open({}, counting)
    expect(await later.core.cellars.rename(cellar, 'Köln', asker)).toMatchObject({ value: { title: 'Köln' } })
    expect(eventsRead).toBeLessThanOrEqual(1)
    // The purges have times of a clock that was ahead. Time never decreases in a stream, so the rename gets the time of the
    // last purge.
    const all = await cluster.log.read(stream, { from: 2_001, limit: 1 })
    expect(all).toMatchObject([{ type: 'CellarRenamed', recordedAt: latestMs }])
  })

  test('numbers its keys in labels, and shows a key only once', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    expect(await node.core.keys.create(newKey, asker)).toEqual({ ok: false, refusal: { kind: 'cellar_not_found' } })
    await node.core.cellars.create({ cellar, title: '' }, asker)
    const made = await Promise.all([1, 2, 3].map(() => node.core.keys.create(newKey, asker)))
    expect(made.map((answer) => answer.ok && answer.value.state.label)).toEqual(['Key 1', 'Key 2', 'Key 3'])
    const log = JSON.stringify(await cluster.all())
    for (const answer of made) {
      if (!answer.ok) throw new Error('no key was made')
      const parsed = parseKey(answer.value.key)
      expect(parsed?.keyId).toBe(answer.value.state.keyId)
      expect(parsed !== null && secretMatches(parsed, answer.value.state.secretHash)).toBe(true)
      expect(log).not.toContain(answer.value.key.slice(13, 56))
    }
  })

  test('refuses a new key that has already expired', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    await node.core.cellars.create({ cellar, title: '' }, asker)
    expect(await node.core.keys.create({ ...newKey, expiresAt: cluster.clock.now() }, asker)).toEqual({
      ok: false,
      refusal: { kind: 'expiry_in_past', isNew: true },
    })
  })

  test('keeps its bound of keys, also for two requests at once', async () => {
    const cluster = new Cluster()
    await fillCellar(cluster, keysPerCellarMax - 1)
    const { core, schedule } = await cluster.open()
    const asked = [core.keys.create(newKey, asker), core.keys.create(newKey, asker)]
    const [last, onePast] = await schedule.until(Promise.all(asked))
    expect(last).toMatchObject({ ok: true, value: { state: { label: `Key ${keysPerCellarMax}` } } })
    expect(onePast).toEqual({ ok: false, refusal: { kind: 'too_many_keys', keysMax: keysPerCellarMax } })
    expect(core.projections.keys.ofCellar(cellar)).toHaveLength(keysPerCellarMax)
  })

  test('makes one key when two nodes get the same id', async () => {
    const cluster = new Cluster()
    const [one, two] = [await cluster.open(), await cluster.open()]
    await one.core.cellars.create({ cellar, title: '' }, asker)
    const asked = [one, two].map((node) => node.core.keys.create({ ...newKey, keyId: '4fGh7kLm' }, asker))
    const answers = await Promise.all(asked)
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(answers).toContainEqual({ ok: false, refusal: { kind: 'key_exists' } })
    expect(typesOf(await cluster.all())).toEqual(['CellarCreated', 'KeyCreated'])
  })

  test('draws another id for a key whose id is taken', async () => {
    const cluster = new Cluster()
    const node = await cluster.open()
    await node.core.cellars.create({ cellar, title: '' }, asker)
    const { append } = node.faults
    let isFirst = true
    node.faults.append = async (stream, expected, events) => {
      if (!isFirst) return append.call(node.faults, stream, expected, events)
      isFirst = false
      return { outcome: 'conflict', currentRevision: 0 }
    }
    expect(await node.core.keys.create(newKey, asker)).toMatchObject({ ok: true })
    expect(typesOf(await cluster.all())).toEqual(['CellarCreated', 'KeyCreated'])
  })
})

const fillCellar = async ({ log, clock }: Cluster, keys: number): Promise<void> => {
  const metadata = { by: asker.by, requestId: 'r', correlationId: 'r', causationId: 'r' }
  const common = { recordedAt: clock.now(), metadata }
  const data = { cellar, title: cellar }
  await log.append(cellarStream(cellar), 'none', [{ ...common, id: 'cellar', type: 'CellarCreated', data }])
  for (let index = 0; index < keys; index += 1) {
    const keyId = `key${index}`
    const rest = { note: '', secretHash: '0'.repeat(64), limit: null, expiresAt: null, predecessorId: null }
    const data = { keyId, cellar, label: keyId, ...rest }
    await log.append(keyStream(keyId), 'none', [{ ...common, id: keyId, type: 'KeyCreated', data }])
  }
}
