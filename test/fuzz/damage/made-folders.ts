/** Makes a data folder with known contents, and keeps its files at four moments, so that a trial can damage a copy of them. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs, instantText } from '../../../src/domain/calendar.ts'
import { readPageEventsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { signedIn } from '../../http/dashboard/visitor.ts'
import { addOperators } from '../../support/test-operators.ts'
import { type Service, testAsker } from '../../support/test-service.ts'
import { type ManualClock, manualClock } from '../../support/time/manual-clock.ts'
import { until } from '../../support/time/until.ts'
import { openNode } from './opened-node.ts'

export type Files = ReadonlyMap<string, Buffer>

/** A killed service leaves write-ahead logs, and a closed one does not. `older` is from before the last changes. */
export const moments = ['killed', 'closed', 'older killed', 'older closed'] as const
export type Moment = (typeof moments)[number]

export type MadeKey = { readonly name: string; readonly keyId: string; readonly key: string; readonly cellar: string }

/** A request of the last day that was answered with 200. */
export type Repeat = {
  readonly path: '' | '/batch'
  readonly key: string
  readonly idempotencyKey: string
  readonly body: string
}

export type MadeFolders = {
  readonly files: Readonly<Record<Moment, Files>>
  readonly keys: readonly MadeKey[]
  readonly repeats: readonly Repeat[]
  readonly streams: readonly string[]
  /** The session of an admin. */
  readonly cookie: string
  /** The time (ms) of the last event. */
  readonly endMs: number
}

/** `endMs` is the time at which the folder is finished. Its first events are three days older. */
export const makeFolders = async (parent: string, endMs: number): Promise<MadeFolders> => {
  const dataDir = join(parent, 'made')
  const clock = manualClock(endMs - 3 * dayMs - 12 * hourMs)
  const work = new Work(clock)

  const first = await openNode({ dataDir, clock, seed: 101 })
  work.enter(first.service)
  await addOperators(first.log, clock.now())
  await work.createKeys()
  for (let halfDay = 0; halfDay < 6; halfDay += 1) {
    await work.postSome(70)
    clock.advance(dayMs / 2)
    await first.service.sweep()
  }
  const admin = await signedIn(first.service, 'admin')
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  clock.set(endMs - hourMs)
  work.repeats.length = 0
  await work.postSome(240)
  await work.changeKeys()
  const olderKilled = filesIn(dataDir)
  await first.close()
  const olderClosed = filesIn(dataDir)

  clock.set(endMs - 60_000)
  const second = await openNode({ dataDir, clock, seed: 102 })
  work.enter(second.service)
  await work.postSome(240)
  await work.takeRights()
  clock.set(endMs)
  await work.postSome(5)
  // Otherwise the next start would purge readings while a trial reads them.
  await second.service.sweep()
  await until(() => hasPages(join(dataDir, 'idempotency.db-wal')))
  const killed = filesIn(dataDir)
  const streams = await streamsOf(second.log)
  await second.close()
  const files = { killed, closed: filesIn(dataDir), 'older killed': olderKilled, 'older closed': olderClosed }
  return { files, keys: work.keys, repeats: work.repeats, streams, cookie, endMs }
}

const hourMs = 3_600_000

const hasPages = (path: string): boolean => existsSync(path) && statSync(path).size > 4_096

export const filesIn = (dataDir: string): Files =>
  new Map(
    readdirSync(dataDir)
      .filter((name) => lstatSync(join(dataDir, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(dataDir, name))]),
  )

export const writeFiles = (dataDir: string, files: Files): void => {
  mkdirSync(dataDir, { mode: 0o700, recursive: true })
  for (const [name, bytes] of files) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 })
}

const streamsOf = async (log: EventLog): Promise<readonly string[]> => {
  const streams = new Set<string>()
  for (let from = 0; ; ) {
    const page = await log.readAll({ limit: readPageEventsMax, from })
    for (const { stream } of page) streams.add(stream)
    const last = page.at(-1)
    if (last === undefined) return [...streams]
    from = last.position
  }
}

const wine = 'wine'
const beer = 'beer'

class Work {
  readonly keys: MadeKey[] = []
  readonly repeats: Repeat[] = []
  readonly #clock: ManualClock
  #service: Service | null = null
  #requests = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  enter(service: Service): void {
    this.#service = service
  }

  get #node(): Service {
    if (this.#service === null) throw new Error('No node is open')
    return this.#service
  }

  #key(name: string): MadeKey {
    const found = this.keys.find((key) => key.name === name)
    if (found === undefined) throw new Error(`There is no key "${name}"`)
    return found
  }

  async createKeys(): Promise<void> {
    for (const name of ['press', 'lost', 'asleep', 'rotated', 'limited']) await this.#create(name, wine)
    await this.#create('tank', beer)
    await this.#node.core.cellars.changePolicy(wine, { retentionMs: dayMs }, testAsker)
  }

  async #create(name: string, cellar: string): Promise<void> {
    const limit = { readings: name === 'limited' ? 500 : 100_000, windowMs: 60_000 }
    const created = await this.#node.createKey({ cellar, label: name, limit })
    this.keys.push({ name, cellar, ...created })
  }

  /** Single readings of all keys, and batches of two keys with `perBatch` readings. Half of them can be repeated. */
  async postSome(perBatch: number): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) {
      for (const key of this.keys) await this.#post(key, '', JSON.stringify(this.#reading(key)))
      for (const name of ['press', 'tank']) {
        const readings = Array.from({ length: perBatch }, () => this.#reading(this.#key(name)))
        await this.#post(this.#key(name), '/batch', JSON.stringify({ readings }))
      }
    }
  }

  #reading({ cellar }: MadeKey) {
    const number = this.#requests++
    const timestamp = instantText(this.#clock.now() - (number % 60) * 1_000)
    return { cellar, rack: `rack-${number % 3}`, keg: `keg-${number % 7}`, value: number / 8, timestamp }
  }

  async #post({ key }: MadeKey, path: Repeat['path'], body: string): Promise<void> {
    const idempotencyKey = this.#requests % 2 === 0 ? `request-${this.#requests}` : null
    const headers = idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey }
    const answer = await this.#node.postTo(path, body, key, headers)
    await answer.bytes()
    if (answer.status === 200 && idempotencyKey !== null) this.repeats.push({ path, key, idempotencyKey, body })
  }

  async changeKeys(): Promise<void> {
    const { keys, cellars } = this.#node.core
    await keys.suspend(this.#key('asleep').keyId, 'in the winter', testAsker)
    await cellars.rename(beer, 'Beer, south', testAsker)
  }

  async takeRights(): Promise<void> {
    const { keys } = this.#node.core
    await keys.revoke(this.#key('lost').keyId, 'left on a bus', testAsker)
    const rotated = await keys.rotate(this.#key('rotated').keyId, { overlapMs: 0 }, testAsker)
    if (!rotated.ok) throw new Error('The key cannot be rotated')
  }
}
