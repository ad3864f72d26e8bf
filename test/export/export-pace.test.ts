import { expect, test } from 'bun:test'
import { csvRow } from '../../src/export/csv.ts'
import { restingPace } from '../../src/export/export-pace.ts'
import { exportRestFactor, exportRestMsMax } from '../../src/limits.ts'

/** Uses the processor for some time, as a page of events does. */
const work = (ms: number): void => {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
}

test('exports share one pace: one page at a time, each followed by a rest', async () => {
  const seen: string[] = []
  const rests: number[] = []
  const pace = restingPace(async (ms) => {
    rests.push(ms)
    seen.push('rest')
  })
  const page = (name: string) =>
    pace(async () => {
      seen.push(`${name} begins`)
      work(4)
      await Promise.resolve()
      seen.push(`${name} ends`)
    })
  await Promise.all([page('first'), page('second')])
  expect(seen.slice(0, 5)).toEqual(['first begins', 'first ends', 'rest', 'second begins', 'second ends'])
  expect(rests[0]).toBeGreaterThanOrEqual(exportRestFactor * 4)
  expect(rests[0]).toBeLessThanOrEqual(exportRestMsMax)
})

test('a page that fails does not stop the other exports', async () => {
  const pace = restingPace(async () => {})
  await expect(pace(() => Promise.reject(new Error('a fault')))).rejects.toThrow('a fault')
  expect(await pace(async () => 'next')).toBe('next')
})

test('csvRow() keeps numbers, quotes cells, and takes the power from formulas', () => {
  expect(csvRow([-1, 1e21, -0, null, 'a'])).toBe('-1,1e+21,-0,,a\r\n')
  for (const begin of ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'])
    expect(csvRow([`${begin}1`])).toBe(`'${begin}1\r\n`)
  expect(csvRow(['\t=1', '\r=1', '\n=1'])).toBe(`'\t'=1,"'\r'=1","'\n'=1"\r\n`)
  expect(csvRow(['a,b', 'a"b', 'a\nb', ' =1', '-'])).toBe(`"a,b","a""b","a\nb",' =1,'-\r\n`)
})
