import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { keyStream } from '../../../src/domain/stream-names.ts'
import { paths } from '../../../views/paths.ts'
import { type Service, testAsker, testCellar, validReading } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'
import { withAsk } from './log-world.ts'
import { signedIn, startWithOperators, type Visitor } from './visitor.ts'

const clock = manualClock()
const before = { label: 'Mosel press', note: '' }
const afterwards = { label: 'Renamed by bob', note: '' }
let service: Service
let auditor: Visitor
let key: { readonly key: string; readonly keyId: string }

beforeEach(async () => {
  service = await startWithOperators({ clock, wrapCore: withAsk() })
  key = await service.createKey({ label: before.label })
  await service.core.cellars.rename(testCellar, 'Old vault', testAsker)
  clock.advance(60_000)
  await service.post(validReading, key.key)
  await service.core.keys.suspend(key.keyId, '', testAsker)
  await service.core.keys.resume(key.keyId, '', testAsker)
  await service.core.keys.rotate(key.keyId, { overlapMs: 0 }, testAsker)
  await service.core.keys.relabel(key.keyId, afterwards, testAsker)
  await service.core.cellars.rename(testCellar, 'New vault', testAsker)
  await service.core.keys.suspend(key.keyId, '', testAsker)
  clock.advance(60_000)
  auditor = await signedIn(service, 'auditor')
})
afterEach(() => service.stop())

/** The text of each row, newest first. */
const rowsOf = async (path: string): Promise<readonly string[]> => {
  const { body } = await auditor.get(path)
  return [...body.matchAll(/class="log-words">(.*?)<\/td>/gs)].map(([, html = '']) =>
    html
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
}

describe('the Log calls', () => {
  test('a key as it was called at the time of each event', async () => {
    const prefix = `clr_${key.keyId}`
    expect(await rowsOf(paths.log({ key: key.keyId, kind: 'keys' }))).toEqual([
      expect.stringContaining(`changes of Renamed by bob ${prefix} up to revision 5`),
      expect.stringContaining(`suspended Renamed by bob ${prefix}.`),
      expect.stringContaining(`renamed Mosel press ${prefix} to “Renamed by bob”.`),
      expect.stringContaining(`rotated Mosel press ${prefix} to Mosel press clr_`),
      expect.stringContaining(`resumed Mosel press ${prefix}.`),
      expect.stringContaining(`changes of Mosel press ${prefix} up to revision 1`),
      expect.stringContaining(`suspended Mosel press ${prefix}.`),
      expect.stringContaining('created the key Mosel press'),
    ])
    const [reading = ''] = await rowsOf(paths.log({ key: key.keyId, kind: 'readings' }))
    expect(reading).toContain(`1 reading of Mosel press ${prefix} accepted`)
  })

  test('the key of a reading so in the column of who did it', async () => {
    const { body } = await auditor.get(paths.log({ key: key.keyId, kind: 'readings' }))
    expect(body).toMatch(/data-label="By">\s*<a href="[^"]*"><bdi[^>]*>Mosel press/)
  })

  test('a cellar as it was called in the minute of its readings', async () => {
    const [minute] = (await rowsOf(paths.log())).filter((row) => row.includes('1 reading accepted'))
    expect(minute).toContain('in Old vault.')
    const [first = ''] = (await rowsOf(paths.log({ kind: 'keys' }))).slice(-1)
    expect(first).toContain(`in ${testCellar}`)
  })

  test('the other events of a request so on the page of an event', async () => {
    await service.core.keys.relabel(key.keyId, { label: 'Third name', note: '' }, testAsker)
    const { body } = await auditor.get(paths.event(keyStream(key.keyId), 1))
    expect(body).toContain('Mosel press')
    expect(body).not.toContain('Third name suspended')
  })
})
