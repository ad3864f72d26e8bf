import { type Schedule, systemSchedule } from '../actors/schedule.ts'
import {
  bodyBytesPerSecondMin,
  bodyGraceMs,
  bodyHeartbeatMs,
  bodyHoldersKeptMax,
  bodyReservedBytesMin,
  connectionIdleSecondsMax,
  deviceBodiesBytesMax,
  deviceLargeBodiesBytesMax,
  keyBodiesBytesMax,
  operatorFormsBytesMax,
  operatorsFormsBytesMax,
  readingBodyBytesMax,
  visitorAddressFormsBytesMax,
  visitorsFormsBytesMax,
} from '../limits.ts'
import { BodyMemoryTrouble, type BodyTrouble } from './body-memory-trouble.ts'
import { ownTurns } from './own-turns.ts'

/** Who shares memory for unfinished bodies: the devices' keys, people who are signed in, and people who are not. */
export type BodyPool = 'devices' | 'operators' | 'visitors'

/** Whom a body is charged to: a key's id, an operator's e-mail or a network address. */
export type BodyHolder = { readonly pool: BodyPool; readonly holder: string }

type Sum = { bytes: number }

type Pool = Sum & {
  readonly bytesMax: number
  /** Of `bytes`, what bodies over `readingBodyBytesMax` have. */
  largeBytes: number
  readonly largeBytesMax: number
  readonly holderBytesMax: number
  readonly holders: Map<string, Sum>
  /** Only refused bodies of devices are a trouble of the node. */
  readonly refused: BodyMemoryTrouble | null
}

/** One unfinished body. */
export type BodyInFlight = {
  readonly request: Request
  readonly pool: Pool
  readonly holder: Sum
  readonly holderName: string
  readonly reservedBytes: number
  /** Its place in the list of unfinished bodies, or `ended`. */
  index: number
  /** What the slowness rule counts as received. A body that comes as one piece has its declared size from the start. */
  receivedBytes: number
  beats: number
  /** Called at most once, when the body is given up. The reservation has ended by then. */
  onTooSlow: () => void
}

/** The part of Bun's server that is needed here. */
export type ConnectionTimer = { timeout(request: Request, seconds: number): void }

/**
 * The memory that unfinished bodies may take. Each body reserves its declared size, or the greatest possible one, until it
 * is whole, refused, given up or its client is gone.
 *
 * One heartbeat looks at all unfinished bodies. It gives up those that are slower than `bodyBytesPerSecondMin`, and renews
 * Bun's idle timer for the others: Bun does so itself only after 16 KB for each second of its timer, and would cut off a
 * slow body without an answer. Age is counted in heartbeats, so a clock that leaps gives up nothing.
 */
export class UnfinishedBodies {
  readonly #schedule: Schedule
  readonly #refused: BodyMemoryTrouble
  readonly #pools: Readonly<Record<BodyPool, Pool>>
  /** Each at its own `index`: a set would double what this costs a reading. */
  readonly #bodies: BodyInFlight[] = []
  /** The turns of large bodies. */
  readonly nextTurn = ownTurns()
  #timer: ConnectionTimer | null = null
  #isBeating = false

  constructor(schedule: Schedule = systemSchedule) {
    this.#schedule = schedule
    this.#refused = new BodyMemoryTrouble(schedule, () => this.#pools.devices)
    const forms = { refused: null, largeBytesMax: Number.POSITIVE_INFINITY }
    this.#pools = {
      devices: newPool({
        bytesMax: deviceBodiesBytesMax,
        largeBytesMax: deviceLargeBodiesBytesMax,
        holderBytesMax: keyBodiesBytesMax,
        refused: this.#refused,
      }),
      operators: newPool({ bytesMax: operatorsFormsBytesMax, holderBytesMax: operatorFormsBytesMax, ...forms }),
      visitors: newPool({ bytesMax: visitorsFormsBytesMax, holderBytesMax: visitorAddressFormsBytesMax, ...forms }),
    }
  }

  /** The server whose connections stay open while their bodies come. */
  servedBy(timer: ConnectionTimer): void {
    this.#timer = timer
  }

  get count(): number {
    return this.#bodies.length
  }

  reservedBytes(pool: BodyPool): number {
    return this.#pools[pool].bytes
  }

  /** What the devices' pool, and not a key's own share of it, has refused for a while. */
  troubles(): readonly BodyTrouble[] {
    return this.#refused.troubles()
  }

  /** Holders that are remembered, most of them without a body in flight until the next heartbeat. */
  holders(pool: BodyPool): number {
    return this.#pools[pool].holders.size
  }

  /** Reserves that many bytes; `null` if the holder or its pool would have too many. */
  begin(request: Request, { pool: poolName, holder: holderName }: BodyHolder, bytes: number): BodyInFlight | null {
    const pool = this.#pools[poolName]
    // A connection and its request take memory too, however short the body is.
    const reservedBytes = Math.max(bytes, bodyReservedBytesMin)
    const isLarge = reservedBytes > readingBodyBytesMax
    const known = pool.holders.get(holderName)
    if ((known?.bytes ?? 0) + reservedBytes > pool.holderBytesMax) return null
    if (
      pool.bytes + reservedBytes > pool.bytesMax ||
      (isLarge && pool.largeBytes + reservedBytes > pool.largeBytesMax)
    ) {
      pool.refused?.note(isLarge ? 'batches' : 'bodies')
      return null
    }
    const holder = known ?? newHolder(pool, holderName)
    pool.bytes += reservedBytes
    if (isLarge) pool.largeBytes += reservedBytes
    holder.bytes += reservedBytes
    const index = this.#bodies.length
    const body = {
      request,
      pool,
      holder,
      holderName,
      reservedBytes,
      index,
      receivedBytes: 0,
      beats: 0,
      onTooSlow: nothing,
    }
    this.#bodies.push(body)
    if (!this.#isBeating) this.#beatLater()
    return body
  }

  /** Ends the reservation. A second call does nothing. */
  end(body: BodyInFlight): void {
    if (body.index === ended) return
    const last = this.#bodies.pop()
    if (last !== undefined && last !== body) {
      this.#bodies[body.index] = last
      last.index = body.index
    }
    body.index = ended
    const { pool, holder, reservedBytes } = body
    pool.bytes -= reservedBytes
    if (reservedBytes > readingBodyBytesMax) pool.largeBytes -= reservedBytes
    holder.bytes -= reservedBytes
    // Otherwise the holder stays until the next heartbeat, so that a busy key is not forgotten after each reading.
    if (holder.bytes === 0 && pool.holders.size > bodyHoldersKeptMax) pool.holders.delete(body.holderName)
  }

  #beatLater(): void {
    this.#isBeating = true
    this.#schedule.after(bodyHeartbeatMs, () => {
      this.#isBeating = false
      // A copy: bodies that are given up leave the list.
      for (const body of [...this.#bodies]) this.#look(body)
      for (const pool of Object.values(this.#pools)) forgetIdle(pool)
      if (this.#bodies.length > 0) this.#beatLater()
    })
  }

  #look(body: BodyInFlight): void {
    body.beats += 1
    if (body.receivedBytes >= bytesDue(body.beats)) {
      this.#timer?.timeout(body.request, connectionIdleSecondsMax)
      return
    }
    this.end(body)
    body.onTooSlow()
  }
}

/** Bytes that must have come by a body's nth heartbeat. The first may come at once, so it counts as no time. */
const bytesDue = (beats: number): number => {
  const ms = (beats - 1) * bodyHeartbeatMs - bodyGraceMs
  return ms <= 0 ? 0 : (ms * bodyBytesPerSecondMin) / 1_000
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
