import { expect, test } from 'bun:test'
import { findFault } from '../../src/http/ingest/json/find-fault.ts'
import { utf8FaultAt } from '../../src/http/ingest/json/utf8-fault.ts'
import { timesToTry } from '../support/long-trials.ts'
import { seededNumbers } from '../support/seeded-entropy.ts'
import { batchBodies, readingBodies } from './batch-bodies.ts'

const bodyCount = timesToTry(20_000, 200_000)

test(`of ${bodyCount} bodies the finder finds a fault in those that JSON.parse refuses, and no other`, () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(performance.timeOrigin) % 2 ** 31)
  console.log(`FUZZ_SEED=${seed} repeats these bodies`)
  const makers = [readingBodies(seed), batchBodies(seed)]
  const changed = changer(seed)
  const seen = { valid: 0, broken: 0, notUtf8: 0 }
  const faults = new Set<string>()
  for (let count = 0; count < bodyCount; count += 1) {
    const body = changed(makers[count % 2]?.('wine-berlin') ?? new Uint8Array())
    const text = decoded(body)
    if (text === null) {
      seen.notUtf8 += 1
      expectFirstBadByte(body)
      continue
    }
    const found = findFault(body)
    if ((found === null) !== isJson(text)) throw new Error(`The finder and JSON.parse differ: ${JSON.stringify(text)}`)
    if (found === null) seen.valid += 1
    else {
      seen.broken += 1
      faults.add(found.fault)
      if (body.length < 5_000 && !canGoOn(body.subarray(0, found.byte))) {
        throw new Error(`The fault is before byte ${found.byte}: ${JSON.stringify(text)}`)
      }
    }
  }
  console.log(seen, [...faults].toSorted().join(' '))
  // Each kind must be frequent. Otherwise the bodies no longer test all code.
  for (const [kind, many] of Object.entries(seen)) expect(many, kind).toBeGreaterThan(bodyCount / 100)
  expect(faults.size).toBeGreaterThan(14)
}, 3_600_000)

const utf8 = new TextDecoder('utf-8', { fatal: true })

const decoded = (body: Uint8Array): string | null => {
  try {
    return utf8.decode(body)
  } catch {
    return null
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const expectFirstBadByte = (body: Uint8Array): void => {
  const at = utf8FaultAt(body)
  if (at >= body.length) throw new Error(`No bad byte found: ${Buffer.from(body).toString('latin1')}`)
  expect(decoded(body.subarray(0, at))).not.toBeNull()
  // Up to three bytes more can complete a character, but not with the bytes that are there.
  for (let bytes = 1; bytes <= 4; bytes += 1) expect(decoded(body.subarray(0, at + bytes))).toBeNull()
}

/** Puts a frequent mistake into every second body, or cuts it short. */
const changer = (seed: number) => {
  const numbers = seededNumbers(seed + 1)
  const below = (count: number): number => numbers() % count
  return (body: Uint8Array): Uint8Array => {
    const way = below(6)
    if (way > 2) return body
    const at = below(body.length + 1)
    if (way === 0) return body.subarray(0, at)
    const mistake = mistakes[below(mistakes.length)] ?? ''
    if (way === 1) return Buffer.concat([body.subarray(0, at), Buffer.from(mistake), body.subarray(at)])
    const number = /:\s*-?\d[\d.eE+-]*/.exec(Buffer.from(body).toString('latin1'))
    if (number === null) return body
    const [before, after] = [body.subarray(0, number.index), body.subarray(number.index + number[0].length)]
    return Buffer.concat([before, Buffer.from(`:${mistake}`), after])
  }
}

const mistakes = [
  ...['nan', '-nan', 'NAN', 'inf', '-INF', 'Infinity', '1.#QNAN', '21,5', '+1', '01', '.5', '-.5', '5.', '5e', '0x1'],
  ...['\u0000', "'", '"', '\\', ',', ',,', ',}', ',]', '{', '}', '[', ']', ':', 'true', 'True', 'nul', 'x', '\n', ' '],
  ...['“', '\ufeff', '\u00a0', '\\u12', '\\x', '{}', '[]', '1 2', '""', '//'],
]

/** True if the text is the beginning of some valid JSON. Tries to complete it, with `JSON.parse` as the judge. */
const canGoOn = (begun: Uint8Array): boolean => {
  const text = utf8.decode(begun)
  const closers = closersOf(text)
  return ends.some((end) => isJson(`${text}${end}${closers}`))
}

const closersOf = (text: string): string => {
  const closers: string[] = []
  for (const [bracket] of text.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '').matchAll(/[{}[\]]/g)) {
    if (bracket === '{') closers.unshift('}')
    else if (bracket === '[') closers.unshift(']')
    else closers.shift()
  }
  return closers.join('')
}

const ends = ['', '"', 'n"', '0"', '00"', '000"', '0000"'].flatMap((rest) =>
  ['', ':0', '0', '"":0', ...['e', 'ue', 'rue', 'l', 'll', 'ull', 'se', 'lse', 'alse']].map((more) => `${rest}${more}`),
)
