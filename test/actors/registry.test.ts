import { describe, expect, test } from 'bun:test'
import { createProjections } from '../../projections/projections.ts'
import { ActorContext } from '../../src/actors/actor-context.ts'
import { type Actor, actorIdleMs, Registry } from '../../src/actors/registry.ts'
import { heartbeatMs } from '../../src/limits.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'
import { manualClock } from '../support/time/manual-clock.ts'

type Fake = Actor & { isIdle: boolean }

const registryOf = (max: number): { context: ActorContext; registry: Registry<Fake> } => {
  const context = new ActorContext({
    log: createMemoryLog(),
    clock: manualClock(),
    entropy: seededEntropy(),
    schedule: drivenSchedule(),
    projections: createProjections(),
    onBug: (bug) => {
      throw bug
    },
  })
  const make = (): Fake => ({ usedBeat: 0, isIdle: true, answerOverdue: () => {}, stop: () => {} })
  return { context, registry: new Registry(context, make, max) }
}

describe('Registry', () => {
  test('keeps a bounded number of actors, and drops an idle one', () => {
    const { context, registry } = registryOf(2)
    const first = registry.get('first')
    context.beat += 1
    const second = registry.get('second')
    registry.get('third')
    expect(registry.size).toBe(2)
    expect(registry.get('second')).toBe(second)
    expect(registry.get('first')).not.toBe(first)
  })

  test('never drops an actor at work, and refuses when there is no room', () => {
    const { registry } = registryOf(2)
    const busy = [registry.get('first'), registry.get('second')]
    for (const actor of busy) if (actor !== null) actor.isIdle = false
    expect(registry.get('third')).toBeNull()
    expect([registry.get('first'), registry.get('second')]).toEqual(busy)
  })

  test('drops actors at the end of their idle time, and none at work', () => {
    const { context, registry } = registryOf(10)
    const [idle, atWork] = [registry.get('idle'), registry.get('at work')]
    if (atWork !== null) atWork.isIdle = false
    context.beat = actorIdleMs / heartbeatMs - 1
    registry.onBeat({ overdue: 0 })
    expect(registry.alive('idle')).toBe(idle)
    context.beat += 1
    registry.onBeat({ overdue: 0 })
    expect(registry.alive('idle')).toBeNull()
    expect(registry.alive('at work')).toBe(atWork)
  })

  test('makes and returns no actor once the node is stopping', () => {
    const { context, registry } = registryOf(2)
    registry.get('first')
    context.isStopping = true
    expect(registry.get('first')).toBeNull()
    expect(registry.get('second')).toBeNull()
  })
})
