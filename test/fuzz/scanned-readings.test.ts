import { expect, test } from 'bun:test'
import { NameCache } from '../../src/domain/reading/name-cache.ts'
import { noWork } from '../../src/http/ingest/api-call.ts'
import { ReadingParser } from '../../src/http/ingest/parse-reading.ts'
import { timesToTry } from '../support/long-trials.ts'
import { readingBodies } from './batch-bodies.ts'

const bodyCount = Number(process.env['FUZZ_BODIES'] ?? timesToTry(50_000, 500_000))
const cellars = ['wine-berlin', 'Fäßer', 'a"b'] as const

/** In the small cache, names replace each other all the time. */
const parsers = [new ReadingParser(), new ReadingParser(new NameCache(1))]
const work = noWork()

test(`of ${bodyCount} bodies the scanner reads the same single reading as JSON.parse`, () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(performance.timeOrigin) % 2 ** 31)
  console.log(`FUZZ_SEED=${seed} repeats these bodies`)
  const bodyFor = readingBodies(seed)
  const seen = { scanned: 0, otherwiseValid: 0, refused: 0 }
  for (let count = 0; count < bodyCount; count += 1) {
    const cellar = cellars[count % 4] ?? cellars[0]
    const body = bodyFor(cellar)
    const before = Buffer.from(body)
    const parser = parsers[count % 2]
    if (parser === undefined) throw new Error('there is no parser')
    const scanned = parser.scan(body, cellar)
    if (!before.equals(body)) throw new Error(`The scan changed ${shown(before)}`)
    const expected = parser.parseWhole(body, cellar, work)
    if (scanned !== null) {
      if (!expected.ok || !Bun.deepEquals(scanned, expected.value, true)) {
        throw new Error(`The scanner and JSON.parse differ: ${shown(before)}`)
      }
      seen.scanned += 1
    } else if (expected.ok) seen.otherwiseValid += 1
    else seen.refused += 1
  }
  console.log(seen)
  // Each kind must be frequent. Otherwise the bodies no longer test all code.
  for (const [kind, share] of Object.entries({ scanned: 0.3, otherwiseValid: 0.05, refused: 0.2 })) {
    expect(Reflect.get(seen, kind), kind).toBeGreaterThan(bodyCount * share)
  }
}, 3_600_000)

const shown = (body: Uint8Array): string => JSON.stringify(Buffer.from(body).toString('latin1'))
