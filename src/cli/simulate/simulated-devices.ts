import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '../../domain/error-message.ts'

const simulatedPostMsMax = 10_000

export type DevicesOptions = {
  readonly url: string
  readonly key: string
  readonly cellar: string
  readonly devices: number
  /** Of all devices together. */
  readonly ratePerSecond: number
  /** With 1, each reading is sent alone, not in a batch. */
  readonly batch: number
  readonly stop: AbortSignal
  /** For the demo, whose address the certificate does not name. */
  readonly trustAnyCertificate?: boolean
  /** From 0 to 1. */
  random(): number
  now(): number
}

export type Tally = {
  accepted: number
  /** By error code, or by HTTP status if the answer has no code. */
  readonly refused: Map<string, number>
  unanswered: number
  lastFault: string | null
}

export const newTally = (): Tally => ({ accepted: 0, refused: new Map(), unanswered: 0, lastFault: null })

export const runDevices = async (options: DevicesOptions, tally: Tally): Promise<void> => {
  const pauseMs = (options.devices / options.ratePerSecond) * 1_000
  const devices = Array.from({ length: options.devices }, (_, index) => runDevice(options, tally, { index, pauseMs }))
  await Promise.all(devices)
}

const sensors = [
  { keg: 'temperature', middle: 11.5, swing: 1.5 },
  { keg: 'humidity', middle: 68, swing: 6 },
  { keg: 'co2', middle: 620, swing: 140 },
] as const

const runDevice = async (
  options: DevicesOptions,
  tally: Tally,
  { index, pauseMs }: { readonly index: number; readonly pauseMs: number },
): Promise<void> => {
  const rack = `rack-${String(index + 1).padStart(2, '0')}`
  // A random start, so that the devices do not all send at the same time.
  let nextAtMs = options.now() + options.random() * pauseMs
  let collected: object[] = []
  for (let count = index; ; count++) {
    if (!(await waitUntil(nextAtMs, options))) return
    const sensor = sensors[count % sensors.length] ?? sensors[0]
    const phase = (options.now() / 60_000) * 2 * Math.PI + index
    const value = sensor.middle + sensor.swing * (Math.sin(phase) + (options.random() - 0.5) / 4)
    const reading = { cellar: options.cellar, rack, keg: sensor.keg, value: Math.round(value * 100) / 100 }
    collected.push({ ...reading, timestamp: timestampOf(options.now()) })
    const isFull = collected.length === options.batch
    const retryAfterMs = isFull ? await post(collected, options, tally) : 0
    if (isFull) collected = []
    // A late device would send all missed readings in one burst.
    nextAtMs = Math.max(nextAtMs + pauseMs, options.now() + retryAfterMs)
  }
}

const timestampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** False: the simulation was stopped first. */
const waitUntil = async (atMs: number, { stop, now }: DevicesOptions): Promise<boolean> => {
  try {
    await wait(Math.max(0, atMs - now()), undefined, { signal: stop })
    return true
  } catch (error) {
    if (stop.aborted) return false
    throw error
  }
}

/** Returns the ms to wait before the next request. */
const post = async (readings: readonly object[], options: DevicesOptions, tally: Tally): Promise<number> => {
  const isBatch = options.batch > 1
  let response: Response
  try {
    response = await fetch(`${options.url}/api/v1/ingest${isBatch ? '/batch' : ''}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': options.key },
      body: JSON.stringify(isBatch ? { readings } : readings[0]),
      // A redirect would send the API key to another address.
      redirect: 'error',
      // `stop` does not abort a request, because its readings can be stored already and must be counted.
      signal: AbortSignal.timeout(simulatedPostMsMax),
      ...(options.trustAnyCertificate === true ? { tls: { rejectUnauthorized: false } } : {}),
    })
    const answer: unknown = await response.json()
    const refused = rejectedOf(answer)
    if (response.ok) tally.accepted += readings.length - refused.length
    else if (refused.length === 0) countRefusal(tally, { answer, status: response.status, readings: readings.length })
    for (const one of refused) countRefusal(tally, { answer: one, status: response.status, readings: 1 })
  } catch (error) {
    tally.unanswered += readings.length
    tally.lastFault = messageOf(error)
    return 1_000
  }
  return Number(response.headers.get('Retry-After') ?? 0) * 1_000
}

const rejectedOf = (answer: unknown): readonly unknown[] => {
  const errors = fieldOf(answer, 'errors')
  return Array.isArray(errors) ? errors : []
}

const countRefusal = (
  tally: Tally,
  { answer, status, readings }: { readonly answer: unknown; readonly status: number; readonly readings: number },
): void => {
  const code = String(fieldOf(answer, 'code') ?? status)
  const error = fieldOf(answer, 'error')
  tally.refused.set(code, (tally.refused.get(code) ?? 0) + readings)
  tally.lastFault = typeof error === 'string' ? error : null
}

const fieldOf = (answer: unknown, name: string): unknown =>
  typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
