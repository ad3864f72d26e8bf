import type { RecordedEvent } from '../../../src/domain/events.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { startService, testAsker } from '../../support/test-service.ts'

export type FilledLog = {
  readonly log: EventLog
  readonly all: readonly RecordedEvent[]
  /** The first two keys are of the cellar `wine`, the last one of the cellar `beer`. */
  readonly keyIds: readonly [string, string, string]
}

/** Fills a log with the readings of three keys, which alternate over several pages, with changes between them, and one refusal. */
export const fillLog = async (log: EventLog, readings: number): Promise<FilledLog> => {
  const service = await startService({ log })
  const { core, clock } = service
  const keys = [
    await service.createKey({ cellar: 'wine' }),
    await service.createKey({ cellar: 'wine' }),
    await service.createKey({ cellar: 'beer' }),
  ] as const
  const [first, second, third] = keys
  const reading = { rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
  for (let count = 0; count < readings; count += 1) {
    const { keyId } = keys[count % 3] ?? first
    clock.advance(1_000)
    const cellar = keyId === third.keyId ? 'beer' : 'wine'
    await core.keys.accept(keyId, { ...reading, cellar }, core.entropy.requestId(clock.now()))
    if (count % 50 === 0) {
      const by = { kind: 'operator', email: 'ada@example.org' } as const
      await core.keys.relabel(keyId, { label: `label ${count}`, note: '' }, { by, requestId: `change-${count}` })
      await core.cellars.rename(cellar, `title ${count}`, testAsker)
    }
  }
  const refused = { requestId: 'refused', atMs: clock.now(), code: 'INVALID_VALUE', names: null, count: 1 }
  core.refusals.note({ ...refused, keyId: first.keyId, refusal: { kind: 'invalid_value' } })
  await core.keys.revoke(second.keyId, 'a test', { ...testAsker, requestId: 'revocation' })
  await service.stop()
  const all = await log.readAll({ limit: readPageEventsMax })
  return { log, all, keyIds: [first.keyId, second.keyId, third.keyId] }
}
