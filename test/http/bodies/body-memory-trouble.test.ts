import { expect, test } from 'bun:test'
import { BodyMemoryTrouble, bodyHoldersToldMax, bodyHolderToldBytesMin } from '../../../src/http/body-memory-trouble.ts'
import { overloadedLooksMin, troubleLookMs } from '../../../src/limits.ts'
import { drivenSchedule } from '../../support/time/driven-schedule.ts'

/** Each entry of `held` is the number of bytes that one key reserves. Returns the cause that the service reports. */
const causeOf = async (held: readonly number[]): Promise<string | undefined> => {
  const schedule = drivenSchedule()
  const holders = new Map(held.map((bytes, key) => [`key-${key}`, { bytes }]))
  const refused = new BodyMemoryTrouble(schedule, () => ({ bytes: 64 * 1024 ** 2, holders }))
  for (let look = 0; look < overloadedLooksMin; look += 1) {
    refused.note('bodies')
    await schedule.advance(troubleLookMs)
  }
  return refused.troubles()[0]?.why
}

test('BodyMemoryTrouble names keys with at least 1 MiB', async () => {
  expect(await causeOf([bodyHolderToldBytesMin - 1, bodyHolderToldBytesMin])).toBe(
    'unfinished bodies have reserved 64 MiB; the keys with the most are key-1 (1 MiB)',
  )
  expect(await causeOf([bodyHolderToldBytesMin - 1])).toBe(
    'unfinished bodies have reserved 64 MiB; no key has much of it',
  )
})

test('BodyMemoryTrouble names the five keys with the most', async () => {
  const held = Array.from({ length: bodyHoldersToldMax + 1 }, (_, key) => (key + 1) * bodyHolderToldBytesMin)
  const cause = await causeOf(held)
  expect(cause).toContain('are key-5 (6 MiB), key-4 (5 MiB), key-3 (4 MiB), key-2 (3 MiB), key-1 (2 MiB)')
  expect(cause).not.toContain('key-0')
})
