import { expect, setDefaultTimeout, test } from 'bun:test'
import { cellarbook, newFolder, startProcess, textOf } from '../support/cellarbook.ts'
import { type Load, startLoad } from '../support/load.ts'
import { acceptedInLog } from './accepted-in-log.ts'

setDefaultTimeout(600_000)

const kills = 10
const acknowledgedEachMin = 150

const readingsAreKept = async (): Promise<void> => {
  const folder = newFolder()
  const environment = { DATA_DIR: folder.path }
  await cellarbook(['cellar', 'create', 'load'], environment)
  const created = await cellarbook(
    ['key', 'create', '--cellar', 'load', '--limit', '10000000/60', '--json'],
    environment,
  )
  const key = textOf(created.lines[0], 'key')

  let value = 0
  const loads: Load[] = []
  for (let kill = 0; kill < kills; kill++) {
    const service = await startProcess(folder.path)
    const load = startLoad({ url: service.url, key, cellar: 'load', devices: 24, nextValue: () => value++ })
    loads.push(load)
    // This number differs for each kill, so that the kills come at different moments of a commit.
    await load.untilAcknowledged(acknowledgedEachMin + kill * 37)
    service.signal('SIGKILL')
    expect(await service.exited).toBe(137)
    await load.ended
  }

  const accepted = await acceptedInLog(folder.path)
  const acknowledged = loads.flatMap((load) => load.acknowledged)
  expect(acknowledged.length).toBeGreaterThan(kills * acknowledgedEachMin)
  const lost = acknowledged.filter(({ value, receipt }) => accepted.get(value)?.[0] !== receipt)
  expect(lost).toEqual([])
  expect([...accepted.values()].filter((receipts) => receipts.length !== 1)).toEqual([])
  // All other stored readings must be those whose answers were cut off by a kill.
  const unanswered = new Set(loads.flatMap((load) => load.unanswered).map((post) => post.value))
  const known = new Set(acknowledged.map((post) => post.value))
  expect([...accepted.keys()].filter((each) => !known.has(each) && !unanswered.has(each))).toEqual([])
  expect(loads.flatMap((load) => load.refused)).toEqual([])
  folder.remove()
}

test('ten kills with -9 under load lose and repeat no acknowledged reading', readingsAreKept, 600_000)
