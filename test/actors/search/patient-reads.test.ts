import { expect, test } from 'bun:test'
import { exportOutageMsMax, type Patience, patiently } from '../../../src/actors/search/patient-reads.ts'
import { exportRetryPauseMs } from '../../../src/limits.ts'
import { DamagedLog, Outage } from '../../../src/log/event-log.ts'

const away = new Outage('the store is away', 'not_written', 'unavailable')

/** Time passes only in pauses. */
const patience = (isWanted: Patience['isWanted'] = () => true) => {
  let nowMs = 0
  return {
    passedMs: () => nowMs,
    isWanted,
    pause: async (ms: number) => {
      nowMs += ms
    },
  }
}

/** A read that fails for some time. */
const failing = (times: number, error: Error) => {
  let tries = 0
  return async (): Promise<number> => {
    tries += 1
    if (tries <= times) throw error
    return tries
  }
}

const triesMax = exportOutageMsMax / exportRetryPauseMs

test('patiently() repeats a read until the store is back', async () => {
  expect(await patiently(patience())(failing(triesMax, away))).toBe(triesMax + 1)
})

test('patiently() gives up after exportOutageMsMax, with the error of the read', async () => {
  await expect(patiently(patience())(failing(triesMax + 1, away))).rejects.toBe(away)
})

test('patiently() waits anew at each read', async () => {
  const patient = patiently(patience())
  for (let reads = 0; reads < 3; reads += 1) expect(await patient(failing(triesMax, away))).toBe(triesMax + 1)
})

test('patiently() gives up when nobody waits for the answer', async () => {
  let asked = 0
  const isWanted = (): boolean => {
    asked += 1
    return asked <= 2
  }
  await expect(patiently(patience(isWanted))(failing(3, away))).rejects.toBe(away)
})

test.each([
  ['damage', new DamagedLog({ stream: null, revision: null, position: 5 }, 'its checksum differs')],
  ['a closed log', new Outage('the log is closed', 'not_written', 'closed')],
  ['a bug', new Error('a bug')],
])('patiently() does not repeat a read after %s', async (_, error) => {
  await expect(patiently(patience())(failing(1, error))).rejects.toBe(error)
})
