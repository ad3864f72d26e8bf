import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { structuralCharsOf, type WorstBody, worstBodies } from '../../bench/load/worst-bodies.ts'
import { durationMsMax } from '../../src/domain/amounts.ts'
import { encodedBytesExceed } from '../../src/domain/reading/columns.ts'
import { BatchItems, judgeBatch, parseBatch } from '../../src/domain/reading/judge-batch.ts'
import { NameCache } from '../../src/domain/reading/name-cache.ts'
import { parseReading } from '../../src/domain/reading/reading.ts'
import { visitorFormBodyBytesMax } from '../../src/http/dashboard/forms/read-form.ts'
import {
  batchStructuralCharsMax,
  jsonNestingMax,
  readingBodyBytesMax,
  readingStructuralCharsMax,
} from '../../src/http/http-bounds.ts'
import { packedBodyBytesMax } from '../../src/http/ingest/checks-after-the-key.ts'
import { batchBodyBytesMax, batchEncodedBytesMax } from '../../src/http/ingest/ingest-batch.ts'

const cellar = 'wine-berlin'
const bytesMax = { reading: readingBodyBytesMax, batch: batchBodyBytesMax, form: visitorFormBodyBytesMax } as const
const structuralCharsMax = { reading: readingStructuralCharsMax, batch: batchStructuralCharsMax, form: 0 } as const
const policy = { limit: null, readingAgeMsMax: durationMsMax, readingAheadMsMax: durationMsMax, retentionMs: null }
const now = Date.UTC(2026, 2, 1, 12)
const batch = new BatchItems(new NameCache())

/** Returns `null` if the body unpacks to more bytes than the service accepts, or cannot be unpacked. */
const unpacked = ({ encoding, bytes }: WorstBody): Uint8Array | null => {
  if (encoding === 'plain') return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: batchBodyBytesMax })
  } catch {
    return null
  }
}

const jsonOf = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}

const isStorable = ({ kind }: WorstBody, json: unknown): boolean => {
  if (kind === 'reading') return parseReading(json).ok
  const items = parseBatch(json)
  if (!items.ok) return false
  batch.begin(cellar)
  for (const item of items.value) batch.judge(item)
  const { readings } = judgeBatch(batch.finish(), { policy, now })
  return readings.count > 0 && !encodedBytesExceed(readings, batchEncodedBytesMax)
}

test('every worst body is within the size limits, and says truly whether it is valid', () => {
  const names = new Set<string>()
  for (const body of worstBodies(cellar)) {
    names.add(body.name)
    expect(body.bytes.length, body.name).toBeGreaterThan(0)
    expect(body.bytes.length, body.name).toBeLessThanOrEqual(
      body.encoding === 'gzip' ? packedBodyBytesMax : bytesMax[body.kind],
    )
    const bytes = unpacked(body)
    expect(bytes !== null && isStorable(body, jsonOf(bytes)), body.name).toBe(body.isValid)
  }
  // Fewer names mean that a body was lost, or that two bodies have the same name.
  expect(names.size).toBeGreaterThanOrEqual(154)
}, 600_000)

test('worst bodies that claim to keep the bounds on structure keep them', () => {
  let most = 0
  for (const body of worstBodies(cellar)) {
    const bytes = unpacked(body)
    if (bytes === null) continue
    const text = new TextDecoder().decode(bytes)
    const chars = structuralCharsOf(text)
    const isWithin = chars <= structuralCharsMax[body.kind] && nestingLevelsOf(text) <= jsonNestingMax
    expect(isWithin, body.name).toBe(body.isWithinStructure)
    if (isWithin) most = Math.max(most, chars)
  }
  expect(most).toBe(batchStructuralCharsMax)
}, 600_000)

const nestingLevelsOf = (text: string): number => {
  let levels = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') inString = !inString
    else if (inString && char === '\\') at += 1
    else if (!inString && (char === '{' || char === '[')) deepest = Math.max(deepest, ++levels)
    else if (!inString && (char === '}' || char === ']')) levels -= 1
  }
  return deepest
}
