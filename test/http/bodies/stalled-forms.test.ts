import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { formBodyBytesMax, visitorFormBodyBytesMax } from '../../../src/http/dashboard/forms/read-form.ts'
import { bodyBytesPerSecondMin, bodyGraceMs, bodyReservedBytesMin } from '../../../src/http/http-bounds.ts'
import {
  bodyHeartbeatMs,
  operatorFormsBytesMax,
  operatorsFormsBytesMax,
  visitorAddressFormsBytesMax,
  visitorsFormsBytesMax,
} from '../../../src/http/unfinished-bodies.ts'
import { paths } from '../../../views/paths.ts'
import { onlyAnswer, type RawAnswer, type RawConnection, rawConnect } from '../../support/raw-http.ts'
import type { Service } from '../../support/test-service.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from '../dashboard/visitor.ts'

let schedule: DrivenSchedule
let service: Service
let connections: RawConnection[]
beforeEach(async () => {
  schedule = drivenSchedule()
  service = await startWithOperators({ bodySchedule: schedule, web: { trustedProxies: ['127.0.0.1'] } })
  connections = []
})
afterEach(async () => {
  for (const connection of connections) connection.drop()
  await service.stop()
})

type Form = { readonly address?: string; readonly person?: Visitor; readonly line?: string }

/** Sends only the head of a form of the largest size, and never its body. */
const stall = async ({ address, person, line }: Form = {}): Promise<RawConnection> => {
  const cookies = [...(person?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  const head = [
    `POST ${person === undefined ? paths.signIn : paths.cellars} HTTP/1.1`,
    `Host: ${new URL(service.url).host}`,
    'Content-Type: application/x-www-form-urlencoded',
    ...(cookies === '' ? [] : [`Cookie: ${cookies}`]),
    ...(address === undefined ? [] : [`X-Forwarded-For: ${address}`, 'X-Forwarded-Proto: https']),
    line ?? `Content-Length: ${person === undefined ? visitorFormBodyBytesMax : formBodyBytesMax}`,
  ]
  const connection = await rawConnect(service.url)
  connections.push(connection)
  await connection.send(`${head.join('\r\n')}\r\n\r\n`)
  return connection
}

const expectTooMany = (answer: RawAnswer): void => {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.body).toContain('Too many forms at once')
  expect(answer.body).toContain('Wait a moment, then go back and try again.')
}

const untilInFlight = (count: number): Promise<void> => until(() => service.bodies.count === count)

/** Fills the share of memory that one address may use. */
const fillAddress = async (address: string): Promise<void> => {
  const forms = visitorAddressFormsBytesMax / visitorFormBodyBytesMax
  const count = service.bodies.count + forms
  await Promise.all(Array.from({ length: forms }, () => stall({ address })))
  await untilInFlight(count)
}

const trySignIn = async (address: string): Promise<number> => {
  const person = visitor(service.url)
  const headers = { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' }
  await person.get(paths.signIn, headers)
  const fields = { email: 'eve@example.org', password: 'wrong', next: '', padding: 'x'.repeat(bodyReservedBytesMin) }
  const seen = await person.post(paths.signIn, fields, headers)
  return seen.status
}

describe('stalled forms of visitors', () => {
  test('are bounded for each address, and another address is answered', async () => {
    await fillAddress('192.0.2.1')
    expect(service.bodies.reservedBytes('visitors')).toBe(visitorAddressFormsBytesMax)
    expectTooMany(await onlyAnswer(await stall({ address: '192.0.2.1' })))
    expect(await trySignIn('192.0.2.1')).toBe(503)
    expect(await trySignIn('192.0.2.2')).toBe(401)
  })

  test('are bounded for each IPv6 /64 network', async () => {
    await fillAddress('2001:db8:0:1::1')
    expectTooMany(await onlyAnswer(await stall({ address: '2001:db8:0:1:ffff::2' })))
    expect(await trySignIn('2001:db8:0:2::1')).toBe(401)
  })

  test('share 4 MiB, and leave signed-in people room', async () => {
    const ada = await signedIn(service, 'admin')
    for (let host = 0; host < visitorsFormsBytesMax / visitorAddressFormsBytesMax; host += 1) {
      await fillAddress(`192.0.2.${host}`)
    }
    expect(service.bodies.reservedBytes('visitors')).toBe(visitorsFormsBytesMax)
    expect(await trySignIn('198.51.100.1')).toBe(503)
    expect((await ada.post(paths.cellars, { cellar: 'afterwards', title: '' })).status).toBe(303)

    connections[0]?.drop()
    await until(() => service.bodies.reservedBytes('visitors') < visitorsFormsBytesMax)
    expect(await trySignIn('198.51.100.1')).toBe(401)
  })

  test('reserve the largest form without a declared length', async () => {
    await stall({ line: 'Transfer-Encoding: chunked' })
    await untilInFlight(1)
    expect(service.bodies.reservedBytes('visitors')).toBe(visitorFormBodyBytesMax)
  })

  test('leave room to sign in beside 64 forms from 32 addresses', async () => {
    const line = `Content-Length: ${formBodyBytesMax}`
    const stalled = Array.from({ length: 64 }, (_, form) => stall({ address: `192.0.2.${form % 32}`, line }))
    for (const connection of await Promise.all(stalled)) expect((await onlyAnswer(connection)).status).toBe(413)
    expect(service.bodies.reservedBytes('visitors')).toBe(0)
    expect(await trySignIn('192.0.2.1')).toBe(401)
  })
})

describe('stalled forms of signed-in people', () => {
  test('are bounded, and spare other people', async () => {
    const ada = await signedIn(service, 'admin')
    const bob = await signedIn(service, 'auditor')
    const held = operatorFormsBytesMax / formBodyBytesMax
    for (let forms = 0; forms < held; forms += 1) await stall({ person: ada })
    await untilInFlight(held)
    expect(service.bodies.reservedBytes('operators')).toBe(operatorFormsBytesMax)
    expect(operatorFormsBytesMax).toBeLessThan(operatorsFormsBytesMax)
    expectTooMany(await onlyAnswer(await stall({ person: ada })))
    expect((await bob.post(paths.signOut, {})).status).toBe(303)
    expect(service.bodies.reservedBytes('visitors')).toBe(0)
  })
})

describe('a slow form', () => {
  /** The time at which the last byte of a form of this size is due. */
  const dueMs = (formBytes: number): number => bodyGraceMs + (formBytes / bodyBytesPerSecondMin) * 1_000

  test('gets a page with 408, and a closed connection', async () => {
    const ada = await signedIn(service, 'admin')
    for (const [from, formBytes] of [
      [{}, visitorFormBodyBytesMax],
      [{ person: ada }, formBodyBytesMax],
    ] as const) {
      const form = await stall(from)
      await untilInFlight(1)
      await schedule.advance(dueMs(formBytes))
      expect(service.bodies.count).toBe(1)
      await schedule.advance(2 * bodyHeartbeatMs)
      const answer = await onlyAnswer(form)
      await form.closed
      expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close'])
      expect(answer.body).toContain('This form took too long')
    }
    expect(service.bodies.count).toBe(0)
  })
})
