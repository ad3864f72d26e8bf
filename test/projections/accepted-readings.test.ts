import { describe, expect, test } from 'bun:test'
import { barriersPerKeyMax } from '../../projections/accepted-readings.ts'
import { createProjections } from '../../projections/projections.ts'
import type { EventData } from '../../src/domain/events.ts'
import { Recorder } from '../support/recorder.ts'

const noon = Date.UTC(2026, 2, 1, 12)

const scene = () => {
  const recorder = new Recorder(noon)
  const projections = createProjections()
  const post = (data: Partial<EventData<'ReadingAccepted'>>, options: { at?: number; keyId?: string } = {}) => {
    const event = recorder.record(
      `readings-${options.keyId ?? 'k1'}`,
      {
        type: 'ReadingAccepted',
        data: { cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z', ...data },
      },
      { at: options.at ?? noon },
    )
    projections.fold([event])
    return event
  }
  return { recorder, projections, post }
}

describe('the usage of a key', () => {
  test('has the last accepted reading and the number of all', () => {
    const { projections, post } = scene()
    expect(projections.readings.usage('k1')).toBeNull()
    for (let number = 0; number < 55; number += 1) post({}, { at: noon + number })
    post({}, { keyId: 'k2', at: noon + 999 })
    const last = { stream: 'readings-k1', revision: 54, position: 55, recordedAt: noon + 54 }
    expect(projections.readings.usage('k1')).toEqual({ lastUsedAt: noon + 54, accepted: 55, last })
  })

  test('does not count seals and fences', () => {
    const { projections, recorder, post } = scene()
    const fence = (keyRevision: number) =>
      projections.fold([recorder.record('readings-k1', { type: 'ReadingsFenced', data: { keyRevision } })])
    for (let revision = 0; revision <= barriersPerKeyMax; revision += 1) fence(revision)
    expect(projections.readings.usage('k1')).toBeNull()
    post({})
    projections.fold([recorder.record('readings-k1', { type: 'ReadingsSealed', data: { reason: 'lost' } })])
    const barriers = projections.readings.barriers('k1')
    expect(barriers).toHaveLength(barriersPerKeyMax)
    expect(barriers.at(-1)?.type).toBe('ReadingsSealed')
    expect(projections.readings.usage('k1')?.accepted).toBe(1)
    expect(projections.readings.barriers('k2')).toEqual([])
  })
})
