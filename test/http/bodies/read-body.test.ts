import { beforeEach, describe, expect, test } from 'bun:test'
import {
  bodyBytesPerSecondMin,
  bodyGraceMs,
  bodyReservedBytesMin,
  connectionIdleSecondsMax,
  readingBodyBytesMax,
} from '../../../src/http/http-bounds.ts'
import { batchBodyBytesMax } from '../../../src/http/ingest/ingest-batch.ts'
import { type BodyFault, bodyInOnePieceBytesMax, readBody } from '../../../src/http/read-body.ts'
import {
  type BodyHolder,
  type BodyPool,
  bodyHeartbeatMs,
  bodyHoldersKeptMax,
  deviceBodiesBytesMax,
  deviceLargeBodiesBytesMax,
  keyBodiesBytesMax,
  operatorFormsBytesMax,
  operatorsFormsBytesMax,
  UnfinishedBodies,
  visitorAddressFormsBytesMax,
  visitorsFormsBytesMax,
} from '../../../src/http/unfinished-bodies.ts'
import { type DrivenSchedule, drivenSchedule } from '../../support/time/driven-schedule.ts'

let schedule: DrivenSchedule
let bodies: UnfinishedBodies
beforeEach(() => {
  schedule = drivenSchedule()
  bodies = new UnfinishedBodies(schedule)
})

type Sender = {
  readonly request: Request
  send(bytes: number): Promise<void>
  finish(): Promise<void>
  fail(thrown: unknown): void
}

/** A request whose body the test sends in pieces. */
const sender = (declared: number | null): Sender => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const body = new ReadableStream<Uint8Array>({
    start: (started) => {
      controller = started
    },
  })
  const headers = new Headers(declared === null ? [] : [['Content-Length', String(declared)]])
  const request = new Request('http://127.0.0.1/', { method: 'POST', headers, body })
  return {
    request,
    send: (bytes) => {
      controller?.enqueue(new Uint8Array(bytes))
      return schedule.quiet()
    },
    finish: () => {
      controller?.close()
      return schedule.quiet()
    },
    fail: (thrown) => controller?.error(thrown),
  }
}

const device = (holder = 'key-1', bytesMax = batchBodyBytesMax) => ({ pool: 'devices', holder, bytesMax }) as const

type Read = { state: 'unfinished' | number | BodyFault }

const reading = ({ request }: Sender, as = device()): Read => {
  const read: Read = { state: 'unfinished' }
  readBody(bodies, request, as).then((body) => {
    read.state = typeof body === 'string' ? body : body.byteLength
  })
  return read
}

const beat = (): Promise<void> => schedule.advance(bodyHeartbeatMs)
const beats = async (count: number): Promise<void> => {
  for (let passed = 0; passed < count; passed += 1) await beat()
}
/** The number of heartbeats in the first 30 s. One more is added, because the first heartbeat may come at once. */
const graceBeats = 1 + bodyGraceMs / bodyHeartbeatMs
const dueBytesPerBeat = (bodyHeartbeatMs / 1_000) * bodyBytesPerSecondMin

const expectNothingHeld = (): void => {
  expect([bodies.count, bodies.reservedBytes('devices')]).toEqual([0, 0])
}

describe('UnfinishedBodies reserves', () => {
  const fill = (as: BodyHolder, bytes: number, count: number): number =>
    Array.from({ length: count }, () => bodies.begin(sender(null).request, as, bytes)).filter((body) => body !== null)
      .length

  const bounds: readonly { readonly pool: BodyPool; readonly each: number; readonly all: number }[] = [
    { pool: 'devices', each: keyBodiesBytesMax, all: deviceBodiesBytesMax },
    { pool: 'operators', each: operatorFormsBytesMax, all: operatorsFormsBytesMax },
    { pool: 'visitors', each: visitorAddressFormsBytesMax, all: visitorsFormsBytesMax },
  ]
  const half = readingBodyBytesMax / 2

  test.each(bounds)('at most $each bytes for one of the $pool', ({ pool, each }) => {
    const as = { pool, holder: 'one' }
    expect(fill(as, each - half, 1)).toBe(1)
    expect(fill(as, half + 1, 1)).toBe(0)
    expect(fill(as, half, 1)).toBe(1)
    expect(fill(as, 1, 1)).toBe(0)
    expect(bodies.reservedBytes(pool)).toBe(each)
  })

  test.each(bounds)('at most $all bytes for all $pool', ({ pool, each, all }) => {
    for (let holder = 1; holder < all / each; holder += 1) {
      expect(fill({ pool, holder: `${holder}` }, half, each / half)).toBe(each / half)
    }
    expect(fill({ pool, holder: 'last' }, half, each / half - 1)).toBe(each / half - 1)
    expect(fill({ pool, holder: 'another' }, half + 1, 1)).toBe(0)
    expect(fill({ pool, holder: 'another' }, half, 1)).toBe(1)
    expect(fill({ pool, holder: 'too many' }, 1, 1)).toBe(0)
    expect(bodies.reservedBytes(pool)).toBe(all)
  })

  test('at most 56 MiB for bodies larger than a reading', () => {
    for (let held = batchBodyBytesMax; held < deviceLargeBodiesBytesMax; held += batchBodyBytesMax) {
      expect(fill({ pool: 'devices', holder: `${held}` }, batchBodyBytesMax, 1)).toBe(1)
    }
    const other = { pool: 'devices', holder: 'other' } as const
    expect(fill(other, batchBodyBytesMax + 1, 1)).toBe(0)
    expect(fill(other, batchBodyBytesMax, 1)).toBe(1)
    expect(fill(other, readingBodyBytesMax + 1, 1)).toBe(0)
    const beside = (deviceBodiesBytesMax - deviceLargeBodiesBytesMax) / readingBodyBytesMax
    expect(fill(other, readingBodyBytesMax, beside + 1)).toBe(beside)
    expect(bodies.reservedBytes('devices')).toBe(deviceBodiesBytesMax)
  })

  test('room for large bodies again when some end', () => {
    const begun = Array.from({ length: deviceLargeBodiesBytesMax / batchBodyBytesMax }, (_, holder) =>
      bodies.begin(sender(null).request, { pool: 'devices', holder: `${holder}` }, batchBodyBytesMax),
    )
    const [first] = begun
    if (first === null || first === undefined) throw new Error('not reserved')
    expect(fill({ pool: 'devices', holder: 'another' }, batchBodyBytesMax, 1)).toBe(0)
    bodies.end(first)
    expect(fill({ pool: 'devices', holder: 'another' }, batchBodyBytesMax, 2)).toBe(1)
  })

  test('at least 1 KiB for a body', () => {
    const countMax = keyBodiesBytesMax / bodyReservedBytesMin
    expect(fill({ pool: 'devices', holder: 'one' }, 0, countMax)).toBe(countMax)
    expect(fill({ pool: 'devices', holder: 'one' }, 0, 1)).toBe(0)
  })

  test('nothing for ended bodies, in any order', async () => {
    const renewed: Request[] = []
    bodies.servedBy({ timeout: (request) => renewed.push(request) })
    const begun = Array.from({ length: 4 }, (_, holder) =>
      bodies.begin(sender(null).request, { pool: 'devices', holder: `${holder}` }, batchBodyBytesMax),
    ).filter((body) => body !== null)
    for (const [place, left] of [
      [0, [1, 2, 3]],
      [3, [1, 2]],
      [1, [2]],
      [2, []],
    ] as const) {
      const body = begun[place]
      if (body !== undefined) bodies.end(body)
      expect([bodies.count, bodies.reservedBytes('devices')]).toEqual([left.length, left.length * batchBodyBytesMax])
      renewed.length = 0
      await beat()
      expect(new Set(renewed)).toEqual(new Set(left.flatMap((other) => begun[other]?.request ?? [])))
    }
  })

  test('nothing for a holder without a body after a heartbeat', async () => {
    const body = bodies.begin(sender(null).request, { pool: 'devices', holder: 'key-1' }, 1)
    if (body === null) throw new Error('not reserved')
    bodies.end(body)
    bodies.end(body)
    expectNothingHeld()
    expect(bodies.holders('devices')).toBe(1)
    await beat()
    expect(bodies.holders('devices')).toBe(0)
  })

  test('nothing for more than 10,000 holders without a body', () => {
    for (let holder = 0; holder <= bodyHoldersKeptMax; holder += 1) {
      const body = bodies.begin(sender(null).request, { pool: 'visitors', holder: `address ${holder}` }, 1)
      if (body !== null) bodies.end(body)
    }
    expect(bodies.holders('visitors')).toBe(bodyHoldersKeptMax)
  })
})

describe('readBody() ends the reservation', () => {
  test('when a body is whole', async () => {
    for (const bytes of [bodyInOnePieceBytesMax, bodyInOnePieceBytesMax + 1]) {
      const from = sender(bytes)
      const read = reading(from)
      expect(bodies.reservedBytes('devices')).toBe(bytes)
      await from.send(bytes - 1)
      await from.send(1)
      expect([read.state, bodies.count]).toEqual(['unfinished', 1])
      await from.finish()
      expect(read.state).toBe(bytes)
      expectNothingHeld()
    }
  })

  test('when a body of unknown length is whole or too long', async () => {
    for (const [bytes, state] of [
      [1_000, 1_000],
      [1_001, 'too_large'],
    ] as const) {
      const from = sender(null)
      const read = reading(from, device('key-1', 1_000))
      expect(bodies.reservedBytes('devices')).toBe(bodyReservedBytesMin)
      await from.send(bytes)
      if (state !== 'too_large') await from.finish()
      expect(read.state).toBe(state)
      expectNothingHeld()
    }
  })

  test('when its client goes away', async () => {
    for (const declared of [100, bodyInOnePieceBytesMax + 1, null]) {
      const from = sender(declared)
      const read = reading(from)
      from.fail(new DOMException('gone', 'AbortError'))
      await schedule.quiet()
      expect(read.state).toBe('client_gone')
      expectNothingHeld()
    }
  })

  test('when a bug is thrown, and rethrows it', async () => {
    for (const declared of [100, bodyInOnePieceBytesMax + 1, null]) {
      const from = sender(declared)
      const read = readBody(bodies, from.request, device())
      from.fail(new TypeError('a bug'))
      await expect(read).rejects.toThrow('a bug')
      expectNothingHeld()
    }
  })

  test('and reserves nothing for empty or too large bodies', async () => {
    const tooLarge = reading(sender(batchBodyBytesMax + 1))
    expectNothingHeld()
    await schedule.quiet()
    expect(tooLarge.state).toBe('too_large')
    const read = await readBody(bodies, new Request('http://127.0.0.1/', { method: 'POST' }), device())
    expect(read).toEqual(new Uint8Array())
    expectNothingHeld()
  })
})

describe('readBody() gives up', () => {
  test('a stalled body with the first heartbeat after its 30 s', async () => {
    const from = sender(null)
    const read = reading(from)
    await beats(graceBeats)
    expect(read.state).toBe('unfinished')
    await beat()
    expect(read.state).toBe('too_slow')
    expectNothingHeld()
    // The read has ended, so a later failure of the connection must not change its result.
    from.fail(new DOMException('gone', 'AbortError'))
    await schedule.quiet()
    expect(read.state).toBe('too_slow')
    expectNothingHeld()
  })

  test('a stream one byte slower than 1 KiB a second', async () => {
    const behind = sender(batchBodyBytesMax)
    const inTime = sender(batchBodyBytesMax)
    const reads = [reading(behind), reading(inTime)]
    await behind.send(2 * dueBytesPerBeat - 1)
    await inTime.send(2 * dueBytesPerBeat)
    await beats(graceBeats + 1)
    expect(reads.map(({ state }) => state)).toEqual(['unfinished', 'unfinished'])
    await beat()
    expect(reads.map(({ state }) => state)).toEqual(['too_slow', 'unfinished'])
  })

  test('no stream at 1 KiB a second, until it is whole', async () => {
    const bytes = 30 * dueBytesPerBeat
    expect(bytes).toBeGreaterThan(bodyInOnePieceBytesMax)
    const from = sender(bytes)
    const read = reading(from)
    await beats(graceBeats)
    for (let sent = 0; sent < bytes; sent += dueBytesPerBeat) {
      await from.send(dueBytesPerBeat)
      await beat()
      expect(read.state).toBe('unfinished')
    }
    await from.finish()
    expect(read.state).toBe(bytes)
  })

  test('a body in one piece by its declared size', async () => {
    const read = reading(sender(dueBytesPerBeat))
    await beats(graceBeats + 1)
    expect(read.state).toBe('unfinished')
    await beat()
    expect(read.state).toBe('too_slow')
  })
})

describe('UnfinishedBodies keeps connections open', () => {
  test('by renewing their timers with each heartbeat', async () => {
    const renewed: (readonly [Request, number])[] = []
    bodies.servedBy({ timeout: (request, seconds) => renewed.push([request, seconds]) })
    const from = sender(2_000)
    const other = sender(3_000)
    reading(from)
    reading(other)
    expect(renewed).toEqual([])
    await beat()
    expect(renewed).toEqual([
      [from.request, connectionIdleSecondsMax],
      [other.request, connectionIdleSecondsMax],
    ])
    await from.finish()
    await beat()
    expect(renewed.slice(2)).toEqual([[other.request, connectionIdleSecondsMax]])
    await other.finish()
    await beats(3)
    expect(renewed.length).toBe(3)
  })

  test('with one timer for all bodies, and none without a body', async () => {
    let timers = 0
    const after = (ms: number, run: () => void): (() => void) => {
      timers += 1
      return schedule.after(ms, run)
    }
    bodies = new UnfinishedBodies({ ...schedule, after })
    const senders = Array.from({ length: 10 }, () => sender(2_000))
    for (const from of senders) reading(from)
    expect(timers).toBe(1)
    await beats(2)
    expect(timers).toBe(3)
    for (const from of senders) await from.finish()
    await beats(5)
    expect(timers).toBe(3)
  })
})
