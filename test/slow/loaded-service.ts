import { expect } from 'bun:test'
import { type Load, startLoad } from '../support/load.ts'
import type { LogState } from '../support/log-server/state.ts'
import { openAt } from '../support/logs/event-store-log.ts'
import { type Service, startService, testAsker, testCellar } from '../support/test-service.ts'

const devicesPerKey = 3

/** A service with devices that post with several keys and record every answer. */
export type LoadedService = {
  readonly loads: readonly Load[]
  acknowledged(): number
  untilMoreAcknowledged(count: number): Promise<void>
  untilMoreRefused(count: number): Promise<void>
  stop(): Promise<void>
}

export const startLoadedService = async (url: string, keys: number): Promise<LoadedService> => {
  const log = await openAt(url, '')
  const service = await startService({ log })
  let value = 0
  const loads: Load[] = []
  for (let count = 0; count < keys; count += 1) {
    const key = await createKey(service)
    loads.push(
      startLoad({
        url: service.url,
        key,
        cellar: testCellar,
        devices: devicesPerKey,
        nextValue: () => value++,
        pauseAfterRefusalMs: 25,
      }),
    )
  }
  const more = async (wait: (load: Load) => Promise<void>): Promise<void> => {
    await Promise.all(loads.map(wait))
  }
  return {
    loads,
    acknowledged: () => loads.reduce((sum, load) => sum + load.acknowledged.length, 0),
    untilMoreAcknowledged: (count) => more((load) => load.untilAcknowledged(load.acknowledged.length + count)),
    untilMoreRefused: (count) => more((load) => load.untilRefused(load.refused.length + count)),
    stop: async () => {
      await Promise.all(loads.map((load) => load.stop()))
      await service.stop()
      await log.close()
    },
  }
}

/** Creates the key again if the store was unavailable, because on a busy machine the store can answer too late. */
const createKey = async (service: Service): Promise<string> => {
  const cellar = testCellar
  if (service.core.projections.cellars.get(cellar) === null) {
    await service.core.cellars.create({ cellar, title: '' }, testAsker)
    return createKey(service)
  }
  const limit = { readings: 1_000_000, windowMs: 60_000 }
  const input = { cellar, label: '', note: '', limit, expiresAt: null }
  const created = await service.core.keys.create(input, testAsker)
  if (created.ok) return created.value.key
  if (created.refusal.kind !== 'store_unavailable') throw new Error(`Cannot create a key: ${created.refusal.kind}`)
  return createKey(service)
}

type Told = Pick<Load, 'acknowledged' | 'refused' | 'unanswered'>

/**
 * Each acknowledged reading must be stored once, where its receipt says. A refused reading may be stored once, because
 * its outcome was unknown. Every request must have got an answer.
 */
export const expectKept = (state: Pick<LogState, 'all'>, loads: readonly Told[]): void => {
  const receipts = new Map<number, string[]>()
  for (const { stream, revision, type, data } of state.all) {
    if (type !== 'ReadingAccepted') continue
    const { value }: { value: number } = JSON.parse(new TextDecoder().decode(data))
    receipts.set(value, [...(receipts.get(value) ?? []), `${stream}@${revision}`])
  }
  const acknowledged = loads.flatMap((load) => load.acknowledged)
  expect(acknowledged.filter(({ value, receipt }) => receipts.get(value)?.[0] !== receipt)).toEqual([])
  expect([...receipts.values()].filter((places) => places.length > 1)).toEqual([])
  const answered = new Set([...acknowledged, ...loads.flatMap((load) => load.refused)].map(({ value }) => value))
  expect([...receipts.keys()].filter((value) => !answered.has(value))).toEqual([])
  expect(loads.flatMap((load) => load.unanswered)).toEqual([])
}
