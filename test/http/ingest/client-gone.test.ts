import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { acceptedReadings } from '../../support/answers.ts'
import { rawConnect } from '../../support/raw-http.ts'
import { type Service, startService, validReading } from '../../support/test-service.ts'

let service: Service
let key: string
beforeAll(async () => {
  service = await startService()
  key = (await service.createKey()).key
})
afterAll(() => service.stop())

const head = (line: string): string =>
  `POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${line}\r\n\r\n`

describe('a device that disconnects during its body', () => {
  test.each([
    ['of a declared length', 'Content-Length: 100', '{"cellar":'],
    ['of unknown length', 'Transfer-Encoding: chunked', 'a\r\n{"cellar":\r\n'],
    ['in broken chunks', 'Transfer-Encoding: chunked', 'zz\r\n{"cellar":\r\n'],
  ])('%s leaves no reading and no error line', async (_, line, part) => {
    for (let devices = 0; devices < 10; devices += 1) {
      const connection = await rawConnect(service.url)
      await connection.send(head(line) + part)
      connection.drop()
      await connection.closed
    }
    // The event loop handles data in order of arrival. When it answers these readings, it has handled all broken requests.
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.post(validReading, key)))
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([])
    const stored = await acceptedReadings(service.log)
    expect(stored.every(({ data }) => data.rack === 'rack-17')).toBe(true)
  })

  test('is no refusal of the key', async () => {
    const refused = service.lines.filter(({ what }) => what === 'request refused')
    expect(refused).toEqual([])
    expect((await acceptedReadings(service.log)).length).toBe(30)
  })
})
