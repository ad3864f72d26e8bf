import { expect, test } from 'bun:test'
import type { ActorContext } from '../../../src/actors/actor-context.ts'
import { askedBy } from '../../../src/actors/asked-by.ts'
import { AttentionRecords } from '../../../src/actors/attention/attention-records.ts'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import { attentionRestsStream } from '../../../src/domain/stream-names.ts'
import { testAsker } from '../../support/test-service.ts'

const line = { kind: 'silent', rack: 'r' } as const
const rested = (revision: number, untilMs: number, cellar = 'c'): RecordedEvent<'AttentionRested'> => ({
  ...{ id: '', stream: attentionRestsStream, revision, position: revision, recordedAt: 0 },
  ...{ type: 'AttentionRested', data: { cellar, ...line, untilMs }, metadata: askedBy(testAsker) },
})

test('loadRests() does not replace a rest that was heard meanwhile', async () => {
  const read = Promise.withResolvers<readonly RecordedEvent[]>()
  const context = { log: { read: () => read.promise } } as unknown as ActorContext
  const records = new AttentionRecords(context)
  const loading = records.loadRests()
  records.hear([rested(3, 300)])
  read.resolve([rested(2, 200), rested(1, 100), rested(0, 50, 'other')])
  await loading
  expect(records.restsOf('c', line, 0).map(({ untilMs }) => untilMs)).toEqual([300])
  expect(records.restsOf('other', { ...line, keg: 'k' }, 0).map(({ untilMs }) => untilMs)).toEqual([50])
})
