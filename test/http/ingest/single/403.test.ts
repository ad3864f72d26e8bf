import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { acceptedReadings, answerOf, expectRefusal } from '../../../support/answers.ts'
import { type Service, startService, validReading } from '../../../support/test-service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

describe('POST /api/v1/ingest answers 403 CELLAR_MISMATCH', () => {
  test('to a reading of another cellar', async () => {
    const { key } = await service.createKey()
    await service.createKey({ cellar: 'other' })
    const answer = await answerOf(await service.post({ ...validReading, cellar: 'other' }, key))
    expect(expectRefusal(answer, 403, 'CELLAR_MISMATCH')).toBe(
      'cellar must be "wine-berlin", the cellar of this API key: send that name, or use a key of the other cellar.',
    )
    expect(await acceptedReadings(service.log)).toEqual([])
  })

  test.each(['Wine-Berlin', 'wine-berlin2', 'wine'])('to %j: names are exact', async (cellar) => {
    const { key } = await service.createKey()
    expectRefusal(await answerOf(await service.post({ ...validReading, cellar }, key)), 403, 'CELLAR_MISMATCH')
  })

  test('to the same name in another Unicode form', async () => {
    const { key } = await service.createKey({ cellar: 'caf\u00e9' })
    const answer = await answerOf(await service.post({ ...validReading, cellar: 'cafe\u0301' }, key))
    expectRefusal(answer, 403, 'CELLAR_MISMATCH')
  })

  test('with the name of its cellar as JSON', async () => {
    const cellar = `"><img src=x onerror=alert(1)>'; rm -rf ~ #`
    const { key } = await service.createKey({ cellar })
    const answer = await answerOf(await service.post(validReading, key))
    expect(expectRefusal(answer, 403, 'CELLAR_MISMATCH')).toContain(JSON.stringify(cellar))
  })
})
