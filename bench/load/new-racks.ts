import { kegsPerCellarMax } from '../../src/derived/readings/readings-model.ts'
import { batchReadingsMax } from '../../src/limits.ts'
import { ofOneHash } from './worst-bodies.ts'

export type RackNames = { readonly what: string; readonly rack: (number: number) => string }

/** Both have names of 10 characters. */
export const rackNames: readonly RackNames[] = [
  { what: 'plain', rack: (number) => `rack-${String(number).padStart(5, '0')}` },
  { what: 'of one hash', rack: ofOneHash },
]

/** After this number of batches, a cellar has as many kegs as it may have, so each new rack replaces an old one. */
export const batchesToFill = kegsPerCellarMax / batchReadingsMax

/** Returns the body of a batch. Batches with different numbers have no rack in common. */
export const newRacksBody = (cellar: string, { rack }: RackNames, batch: number): string => {
  const timestamp = '2026-03-01T12:00:00Z'
  const readings = Array.from({ length: batchReadingsMax }, (_, index) => {
    const value = 18 + index / 7
    return { cellar, rack: rack(batch * batchReadingsMax + index), keg: 'temperature', value, timestamp }
  })
  return JSON.stringify({ readings })
}

export const postNewRacks = async (url: string, key: string, body: string): Promise<void> => {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
  const answer = await fetch(`${url}/api/v1/ingest/batch`, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`Cannot post new racks: the answer was ${answer.status}`)
}
