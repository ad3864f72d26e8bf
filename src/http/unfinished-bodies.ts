import { type Schedule, systemSchedule } from '../schedule.ts'
import { BodyMemoryTrouble, type BodyTrouble } from './body-memory-trouble.ts'
import {
  bodyBytesPerSecondMin,
  bodyGraceMs,
  bodyReservedBytesMin,
  connectionIdleSecondsMax,
  readingBodyBytesMax,
} from './http-bounds.ts'
import { ownTurns } from './own-turns.ts'

export const keyBodiesBytesMax = 16 * 1024 * 1024
export const deviceBodiesBytesMax = 64 * 1024 * 1024
/** The bound for bodies over `readingBodyBytesMax`. The rest of `deviceBodiesBytesMax` stays free for single readings. */
export const deviceLargeBodiesBytesMax = 56 * 1024 * 1024
/** The bound for one operator. The next bound is for all operators together. */
export const operatorFormsBytesMax = 1024 * 1024
export const operatorsFormsBytesMax = 16 * 1024 * 1024
/** The bound for one IPv4 address or IPv6 /64. The next bound is for all visitors together. */
export const visitorAddressFormsBytesMax = 128 * 1024
export const visitorsFormsBytesMax = 4 * 1024 * 1024
/**
 * How long a client may wait in vain for a `100 Continue` before the first byte of its body. Apache's HTTP client waits 3
 * s.
 */
export const continueWaitMs = 5_000
/** Each check restarts Bun's idle timers, which would otherwise close connections with an unfinished body. */
export const bodyHeartbeatMs = 5_000
/**
 * Up to this number, holders without bodies stay until a heartbeat: removing and adding a busy key for each reading would
 * be slow.
 */
export const bodyHoldersKeptMax = 10_000

/**
 * A flood of one kind of body leaves memory for the others. `devices`: bodies of the API. `operators`: forms of signed-in
 * people. `visitors`: forms of others.
 */
export type BodyPool = 'devices' | 'operators' | 'visitors'

/** `holder`: a key's id, an operator's e-mail or a network address. */
export type BodyHolder = { readonly pool: BodyPool; readonly holder: string }

type Sum = { bytes: number }

type Pool = Sum & {
  readonly bytesMax: number
  /**
   * Bytes of bodies over `readingBodyBytesMax`. They have a bound of their own, so that batches leave memory for single
   * readings.
   */
  largeBytes: number
  readonly largeBytesMax: number
  readonly holderBytesMax: number
  readonly holders: Map<string, Sum>
  readonly trouble: BodyMemoryTrouble | null
}

type Reservation = {
  readonly pool: Pool
  readonly holder: Sum
  readonly holderName: string
  readonly bytes: number
}

export type UnfinishedBody = {
  readonly request: Request
  readonly reservation: Reservation | null
  index: number
  /**
   * For a body in one piece, this is its declared size from the start, because Bun does not show how much has arrived. So
   * such a body is given up later than a slow stream.
   */
  receivedBytes: number
  beats: number
  /** The client may be waiting for a `100 Continue` that never comes. The first byte is due after `continueWaitMs`. */
  mustBegin: boolean
  /** Called at most once. The memory of the body is free by then. */
  onTooSlow: (fault: 'too_slow') => void
}

export type ConnectionTimer = { timeout(request: Request, seconds: number): void }

/**
 * docs/decisions/020-unfinished-bodies-reserve-memory.md. Age is counted in heartbeats, so that a jump of the clock ends no
 * body.
 */
export class UnfinishedBodies {
  readonly #schedule: Schedule
  readonly #trouble: BodyMemoryTrouble
  readonly #pools: Readonly<Record<BodyPool, Pool>>
  /**
   * Each body stores its `index` here, so that removing it needs no search. A `Set` would take twice the processor time.
   */
  readonly #bodies: UnfinishedBody[] = []
  readonly nextTurn = ownTurns()
  #timer: ConnectionTimer | null = null
  #isBeating = false

  constructor(schedule: Schedule = systemSchedule) {
    this.#schedule = schedule
    this.#trouble = new BodyMemoryTrouble(schedule, () => this.#pools.devices)
    const forms = { trouble: null, largeBytesMax: Number.POSITIVE_INFINITY }
    this.#pools = {
      devices: newPool({
        bytesMax: deviceBodiesBytesMax,
        largeBytesMax: deviceLargeBodiesBytesMax,
        holderBytesMax: keyBodiesBytesMax,
        trouble: this.#trouble,
      }),
      operators: newPool({ bytesMax: operatorsFormsBytesMax, holderBytesMax: operatorFormsBytesMax, ...forms }),
      visitors: newPool({ bytesMax: visitorsFormsBytesMax, holderBytesMax: visitorAddressFormsBytesMax, ...forms }),
    }
  }

  servedBy(timer: ConnectionTimer): void {
    this.#timer = timer
  }

  get count(): number {
    return this.#bodies.length
  }

  reservedBytes(pool: BodyPool): number {
    return this.#pools[pool].bytes
  }

  /** Reports only a full pool of all devices: a key that used up its own share harms no other. */
  troubles(): readonly BodyTrouble[] {
    return this.#trouble.troubles()
  }

  holders(pool: BodyPool): number {
    return this.#pools[pool].holders.size
  }

  /** `null` if too little memory is left; then the body must not be read. */
  begin(request: Request, { pool: poolName, holder: holderName }: BodyHolder, bytes: number): UnfinishedBody | null {
    const pool = this.#pools[poolName]
    // Even with an empty body, the connection and the request take memory.
    const reservedBytes = Math.max(bytes, bodyReservedBytesMin)
    const isLarge = reservedBytes > readingBodyBytesMax
    const known = pool.holders.get(holderName)
    if ((known?.bytes ?? 0) + reservedBytes > pool.holderBytesMax) return null
    if (
      pool.bytes + reservedBytes > pool.bytesMax ||
      (isLarge && pool.largeBytes + reservedBytes > pool.largeBytesMax)
    ) {
      pool.trouble?.note(isLarge ? 'batches' : 'bodies')
      return null
    }
    const holder = known ?? newHolder(pool, holderName)
    pool.bytes += reservedBytes
    if (isLarge) pool.largeBytes += reservedBytes
    holder.bytes += reservedBytes
    return this.#add(request, { pool, holder, holderName, bytes: reservedBytes }, 0)
  }

  /** Gives up a slow body, too, but reserves no memory. `bytes` is the body's declared size. */
  beginUnreserved(request: Request, bytes: number): UnfinishedBody {
    return this.#add(request, null, bytes)
  }

  #add(request: Request, reservation: Reservation | null, receivedBytes: number): UnfinishedBody {
    const index = this.#bodies.length
    const body = { request, reservation, index, receivedBytes, beats: 0, mustBegin: false, onTooSlow: nothing }
    this.#bodies.push(body)
    if (!this.#isBeating) this.#beatLater()
    return body
  }

  /** A second call for the same body does nothing. */
  end(body: UnfinishedBody): void {
    if (body.index === ended) return
    const last = this.#bodies.pop()
    if (last !== undefined && last !== body) {
      this.#bodies[body.index] = last
      last.index = body.index
    }
    body.index = ended
    if (body.reservation !== null) release(body.reservation)
  }

  #beatLater(): void {
    this.#isBeating = true
    this.#schedule.after(bodyHeartbeatMs, () => {
      this.#isBeating = false
      // A copy, because `#check` removes bodies.
      for (const body of [...this.#bodies]) this.#check(body)
      for (const pool of Object.values(this.#pools)) forgetIdle(pool)
      if (this.#bodies.length > 0) this.#beatLater()
    })
  }

  #check(body: UnfinishedBody): void {
    body.beats += 1
    if (body.receivedBytes >= bytesDue(body)) {
      this.#timer?.timeout(body.request, connectionIdleSecondsMax)
      return
    }
    this.end(body)
    body.onTooSlow('too_slow')
  }
}

/** The first heartbeat does not count, because it can come just after the body began. */
const bytesDue = ({ beats, mustBegin }: UnfinishedBody): number => {
  const ms = (beats - 1) * bodyHeartbeatMs
  if (ms > bodyGraceMs) return ((ms - bodyGraceMs) * bodyBytesPerSecondMin) / 1_000
  return mustBegin && ms >= continueWaitMs ? 1 : 0
}

const release = ({ pool, holder, holderName, bytes }: Reservation): void => {
  pool.bytes -= bytes
  if (bytes > readingBodyBytesMax) pool.largeBytes -= bytes
  holder.bytes -= bytes
  if (holder.bytes === 0 && pool.holders.size > bodyHoldersKeptMax) pool.holders.delete(holderName)
}

const newPool = (bounds: Omit<Pool, 'bytes' | 'largeBytes' | 'holders'>): Pool => ({
  bytes: 0,
  largeBytes: 0,
  holders: new Map(),
  ...bounds,
})

const newHolder = ({ holders }: Pool, name: string): Sum => {
  const added = { bytes: 0 }
  holders.set(name, added)
  return added
}

const forgetIdle = ({ holders }: Pool): void => {
  for (const [name, { bytes }] of holders) if (bytes === 0) holders.delete(name)
}

const ended = -1

const nothing = (): void => {}
