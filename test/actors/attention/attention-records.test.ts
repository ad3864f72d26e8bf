import { expect, test } from 'bun:test'
import type { ActorContext } from '../../../src/actors/actor-context.ts'
import { askedBy } from '../../../src/actors/asked-by.ts'
import { AttentionRecords, attentionRecordsPerDayMax } from '../../../src/actors/attention/attention-records.ts'
import { dayMs } from '../../../src/domain/calendar.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { attentionRestsStream, attentionStream } from '../../../src/domain/stream-names.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { testAsker } from '../../support/test-service.ts'

const nowMs = 1_000 * dayMs
const line = { kind: 'silent', rack: 'r' } as const
const rested = (revision: number, untilMs: number, cellar = 'c'): RecordedEvent<'AttentionRested'> => ({
  ...{ id: '', stream: attentionRestsStream, revision, position: revision, recordedAt: 0 },
  ...{ type: 'AttentionRested', data: { cellar, ...line, untilMs }, metadata: askedBy(testAsker) },
})

const contextOf = (log: Partial<EventLog>) => ({ log, clock: { now: () => nowMs } }) as unknown as ActorContext

test('loadRests() does not replace a rest that was heard meanwhile', async () => {
  const read = Promise.withResolvers<readonly RecordedEvent[]>()
  const context = contextOf({ read: () => read.promise })
  const records = new AttentionRecords(context)
  const loading = records.loadRests()
  records.hear([rested(3, 300)])
  read.resolve([rested(2, 200), rested(1, 100), rested(0, 50, 'other')])
  await loading
  expect(records.restsOf('c', line, 0).map(({ untilMs }) => untilMs)).toEqual([300])
  expect(records.restsOf('other', { ...line, keg: 'k' }, 0).map(({ untilMs }) => untilMs)).toEqual([50])
})

test('loadRests() finds a rest behind a thousand newer ones', async () => {
  const rests = Array.from({ length: readPageEventsMax + 1 }, (_, at) => ({
    ...rested(at, at === 0 ? 2 : 1, at === 0 ? 'first' : 'c'),
    recordedAt: nowMs,
  }))
  const read: EventLog['read'] = async (_, { from = readPageEventsMax, limit = 0 }) =>
    rests.slice(Math.max(0, from + 1 - limit), from + 1).toReversed()
  const records = new AttentionRecords(contextOf({ read }))
  await records.loadRests()
  expect(records.restsOf('first', line, 0)).toHaveLength(1)
})

test('mayAppend() counts the records before a restart, and of a clock that was ahead', async () => {
  const stream = attentionStream('c')
  const changed = (revision: number, recordedAt: number): RecordedEvent<'AttentionChanged'> => ({
    ...{ id: '', stream, revision, position: revision, recordedAt, type: 'AttentionChanged' },
    ...{ data: { cellar: 'c', began: [], ended: [], now: [], more: 0 }, metadata: askedBy(testAsker) },
  })
  const mayAppend = async (count: number, lastMs: number): Promise<boolean> => {
    const events = Array.from({ length: count }, (_, at) => changed(at, at === count - 1 ? lastMs : nowMs))
    const read: EventLog['read'] = async (_, { limit = 0 }) => events.slice(-limit).toReversed()
    const records = new AttentionRecords(contextOf({ read }))
    return records.mayAppend(stream, await records.last(stream), nowMs)
  }
  expect(await mayAppend(attentionRecordsPerDayMax - 1, nowMs)).toBeTrue()
  expect(await mayAppend(attentionRecordsPerDayMax, nowMs)).toBeFalse()
  expect(await mayAppend(attentionRecordsPerDayMax, nowMs + dayMs)).toBeFalse()
})
