import { expect, test } from 'bun:test'
import { eventsOfItems, type LogItem } from '../../src/domain/reading/recorded-run.ts'
import { Subscriptions } from '../../src/log/subscriptions.ts'
import { sampleRun } from '../support/sample-run.ts'

const run = sampleRun('k1', { revision: 0, position: 11 })

/** Subscribes after a last page that ended at `scannedTo`, and publishes the run. */
const delivered = async (scannedTo: number, categories?: readonly string[]): Promise<readonly LogItem[]> => {
  const subscriptions = new Subscriptions(() => ({ events: [], scannedTo, atEnd: true }))
  const items: LogItem[] = []
  const options = categories === undefined ? { after: null } : { after: null, categories }
  const caughtUp = new Promise<void>((resolve) => {
    subscriptions.subscribe(options, { onEvents: (some) => void items.push(...some), onCaughtUp: resolve })
  })
  await caughtUp
  subscriptions.publish([run], { hasRecords: false })
  return items
}

test('a follower gets a new run as one item', async () => {
  expect(await delivered(10)).toEqual([run])
  expect(await delivered(10, ['readings'])).toEqual([run])
})

test('a follower gets no run that it has read or does not want', async () => {
  expect(await delivered(14)).toEqual([])
  expect(await delivered(10, ['key'])).toEqual([])
})

test('a follower whose last page ended inside a run gets the rest as events', async () => {
  expect(await delivered(12)).toEqual(run.events().slice(2))
  expect(eventsOfItems(await delivered(13)).map(({ position }) => position)).toEqual([14])
})
