import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RecordedEvent } from '../../../src/domain/events.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { verifyStore } from '../../../src/log/verify/run-verify.ts'
import { type LogServer, startLogServer } from '../../support/log-server/server.ts'
import { openAt } from '../../support/logs/event-store-log.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { keySuspensions, reading, startMs } from '../../support/logs/sample-events.ts'
import { addUnknownToServer } from '../../support/logs/unknown-records.ts'

let server: LogServer
let log: EventLog
const prefix = 'verified-'
const readings = (count: number) => Array.from({ length: count }, () => reading('readings-one'))

beforeAll(async () => {
  server = await startLogServer()
  log = await openAt(server.url, prefix)
  await log.append('key-one', 'none', keySuspensions(3))
  await log.append('readings-one', 'none', readings(4))
  await log.append('key-two', 'none', keySuspensions(1))
  await log.append('readings-one', 3, readings(4))
  await log.append('key-one', 2, keySuspensions(1))
})
afterAll(async () => {
  await log.close()
  await server.stop()
})

const verify = (verified: EventLog) => verifyStore(verified, () => {})

/** A log whose server shows other events than it has. */
const showing = (change: (events: readonly RecordedEvent[]) => readonly RecordedEvent[]): EventLog => ({
  ...passingLog(log),
  readAll: async (options) => {
    const events = await log.readAll(options)
    return options.direction === 'backwards' ? events : change(events)
  },
})

describe('verifyStore()', () => {
  test('finds a log sound, also after a truncation and a scavenge', async () => {
    const sound = { rows: null, streams: 3, first: null, arePagesChecked: null }
    expect(await verify(log)).toMatchObject({ ...sound, events: 13 })
    await log.truncate('readings-one', 6)
    expect(await verify(log)).toMatchObject(sound)
    server.state.scavenge()
    expect(await verify(log)).toMatchObject({ ...sound, events: 7 })
  })

  test('names the first missing event', async () => {
    const damaged = showing((events) => events.filter(({ stream, revision }) => stream !== 'key-one' || revision !== 1))
    const first = { kind: 'missing', stream: 'key-one', revision: 1, why: 'the events up to revision 1 are missing' }
    expect(await verify(damaged)).toMatchObject({ first, counts: { missing: 1 } })
  })

  test('names events in a wrong order', async () => {
    const { counts } = await verify(showing((events) => events.toReversed()))
    expect(counts.order).toBeGreaterThan(0)
    const samePositions = showing((events) => events.map((event) => ({ ...event, position: events[0]?.position ?? 0 })))
    expect((await verify(samePositions)).first).toMatchObject({
      kind: 'order',
      why: 'two events have the same position',
    })
  })

  test('names an event that this version cannot decode', async () => {
    addUnknownToServer(server.state, `${prefix}signins-node`, startMs)
    addUnknownToServer(server.state, `${prefix}key-two`, startMs)
    const verified = await verify(log)
    expect(verified.first).toMatchObject({ kind: 'undecodable', stream: 'signins-node', revision: 0 })
    expect(verified.counts).toEqual({ undecodable: 2 })
  })
})
