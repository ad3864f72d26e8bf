/**
 * Runs the same tests on the test log server, and also on a real server if `TEST_EVENTSTORE_URL` names one. Both must
 * answer alike, or tests on the test log server prove nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type AllStreamResolvedEvent,
  type AppendExpectedRevision,
  binaryEvent,
  type EventData,
  EventStoreDBClient,
  jsonEvent,
  type ReadAllOptions,
  type ReadStreamOptions,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import { startLogServer } from './server.ts'

const realUrl = process.env['TEST_EVENTSTORE_URL']

const targets = [
  {
    name: 'the test log server',
    open: async () => {
      const server = await startLogServer()
      return { url: server.url, close: () => server.stop() }
    },
  },
  ...(realUrl === undefined
    ? []
    : [{ name: 'a real server', open: async () => ({ url: realUrl, close: async () => {} }) }]),
]

const fresh = (): string => `conformance-${crypto.randomUUID().slice(0, 8)}`
const event = (value = 0): EventData => jsonEvent({ type: 'Something', data: { value }, metadata: { note: 'é' } })
const events = (count: number): EventData[] => Array.from({ length: count }, (_, index) => event(index))

for (const { name, open } of targets) {
  describe(name, () => {
    let client: EventStoreDBClient
    let close: () => Promise<void>
    beforeAll(async () => {
      const opened = await open()
      close = opened.close
      client = EventStoreDBClient.connectionString(opened.url)
    })
    afterAll(async () => {
      await client.dispose()
      await close()
    })

    const append = (stream: string, expectedRevision: AppendExpectedRevision, what: EventData[]) =>
      client.appendToStream(stream, what, { expectedRevision })
    const refused = async (stream: string, expectedRevision: AppendExpectedRevision, what: EventData[]) => {
      const error = await append(stream, expectedRevision, what).catch((cause: unknown) => cause)
      if (!(error instanceof WrongExpectedVersionError)) throw new Error('it was not refused', { cause: error })
      return { expected: error.expectedVersion, actual: error.actualVersion, stream: error.streamName }
    }
    const read = async (stream: string, options: ReadStreamOptions = {}) => {
      const found = []
      for await (const { event } of client.readStream(stream, options)) if (event !== undefined) found.push(event)
      return found
    }
    const revisions = async (stream: string, options: ReadStreamOptions = {}) =>
      (await read(stream, options)).map(({ revision }) => Number(revision))
    const readAll = async (options: ReadAllOptions) => {
      const found: NonNullable<AllStreamResolvedEvent['event']>[] = []
      for await (const { event } of client.readAll(options)) if (event !== undefined) found.push(event)
      return found
    }
    const last = async (stream: string) => {
      const [found] = await read(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 })
      if (found === undefined) throw new Error(`${stream} is empty`)
      return found
    }

    describe('append', () => {
      test('answers with the revision and the position of the last event', async () => {
        const stream = fresh()
        const result = await append(stream, 'no_stream', events(3))
        expect(result).toMatchObject({ success: true, nextExpectedRevision: 2n })
        expect(result.position).toEqual((await last(stream)).position)
      })

      test('of the same events at the same revision has the same answer', async () => {
        const stream = fresh()
        const [first, second] = [events(2), events(3)]
        const firstAnswer = await append(stream, 'no_stream', first)
        const secondAnswer = await append(stream, 1n, second)
        expect(await append(stream, 'no_stream', first)).toEqual(firstAnswer)
        expect(await append(stream, 1n, second)).toEqual(secondAnswer)
        expect(await revisions(stream)).toEqual([0, 1, 2, 3, 4])
      })

      test('of other events at an old revision is refused with the current revision', async () => {
        const stream = fresh()
        const [one, two] = [event(1), event(2)]
        await append(stream, 'no_stream', [one, two])
        const answer = { stream, expected: 'no_stream', actual: 1n }
        for (const others of [[one, two, event()], [one, event()], [event(), two], [two, one], [event()]]) {
          expect(await refused(stream, 'no_stream', others)).toEqual({ ...answer, expected: 'no_stream' })
        }
        expect(await refused(stream, 0n, [one])).toEqual({ ...answer, expected: 0n })
        expect(await revisions(stream)).toEqual([0, 1])
      })

      test('of the first events at an old revision succeeds', async () => {
        const stream = fresh()
        const three = events(3)
        await append(stream, 'no_stream', three)
        expect(await append(stream, 'no_stream', three.slice(0, 2))).toMatchObject({ nextExpectedRevision: 1n })
        expect(await revisions(stream)).toEqual([0, 1, 2])
      })

      test('at a missing revision is refused', async () => {
        const stream = fresh()
        expect(await refused(stream, 0n, events(1))).toEqual({ stream, expected: 0n, actual: 'no_stream' })
        await append(stream, 'no_stream', events(1))
        expect(await refused(stream, 7n, events(1))).toEqual({ stream, expected: 7n, actual: 0n })
      })

      test('of an old event at a new revision stores it again', async () => {
        const stream = fresh()
        const old = event()
        await append(stream, 'no_stream', [old])
        expect(await append(stream, 0n, [old])).toMatchObject({ success: true, nextExpectedRevision: 1n })
        expect((await read(stream)).map(({ id }) => id)).toEqual([old.id, old.id])
      })

      test('at the same time as another at one revision: one succeeds', async () => {
        const stream = fresh()
        const results = await Promise.allSettled([
          append(stream, 'no_stream', events(1)),
          append(stream, 'no_stream', events(1)),
        ])
        expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
        expect(await revisions(stream)).toEqual([0])
      })

      test('twice at once writes the events once, and refuses neither', async () => {
        const stream = fresh()
        const same = events(2)
        const results = await Promise.allSettled([append(stream, 'no_stream', same), append(stream, 'no_stream', same)])
        for (const result of results) {
          // A real server may never answer one of the two appends. The client then reports `deadline-exceeded`: it does
          // not know the outcome.
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ type: 'deadline-exceeded' })
          else expect(result.value.nextExpectedRevision).toBe(1n)
        }
        expect(await revisions(stream)).toEqual([0, 1])
        expect(await append(stream, 'no_stream', same)).toMatchObject({ nextExpectedRevision: 1n })
      })

      test('without a revision appends at the end, and recognizes recent ids', async () => {
        const stream = fresh()
        const same = events(2)
        expect(await append(stream, 'any', same)).toMatchObject({ nextExpectedRevision: 1n })
        expect(await append(stream, 'any', same)).toMatchObject({ nextExpectedRevision: 1n })
        expect(await append(stream, 'any', events(1))).toMatchObject({ nextExpectedRevision: 2n })
      })

      test('in several pieces is one append', async () => {
        const stream = fresh()
        const options = { expectedRevision: 'no_stream' as const, batchAppendSize: 200 }
        expect(await client.appendToStream(stream, events(20), options)).toMatchObject({ nextExpectedRevision: 19n })
        expect(await revisions(stream)).toHaveLength(20)
      })

      test('with credentials of its own is judged the same by another call', async () => {
        const stream = fresh()
        const options = {
          expectedRevision: 'no_stream' as const,
          credentials: { username: 'admin', password: 'changeit' },
        }
        const same = events(2)
        const result = await client.appendToStream(stream, same, options)
        expect(result).toMatchObject({ success: true, nextExpectedRevision: 1n })
        expect(result.position).toEqual((await last(stream)).position)
        expect(await client.appendToStream(stream, same, options)).toEqual(result)
        const other = await client.appendToStream(stream, events(1), options).catch((cause: unknown) => cause)
        expect(other).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 'no_stream', actualVersion: 1n })
      })

      test('takes 1 MiB of data, without metadata, and not a byte more', async () => {
        const bytes = (length: number) =>
          binaryEvent({ type: 'Large', data: new Uint8Array(length), metadata: { a: 'b' } })
        const half = 512 * 1024
        expect(await append(fresh(), 'no_stream', [bytes(half), bytes(half)])).toMatchObject({ success: true })
        const stream = fresh()
        const error = await append(stream, 'no_stream', [bytes(half), bytes(half + 1)]).catch((cause: unknown) => cause)
        expect(error).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1024 * 1024 })
        expect(await read(stream).catch((cause: unknown) => cause)).toMatchObject({ type: 'stream-not-found' })
      })
    })

    describe('read of a stream', () => {
      test('returns every byte', async () => {
        const stream = fresh()
        const binary = binaryEvent({ type: 'Größe', data: Uint8Array.of(0, 255, 128), metadata: Uint8Array.of(0, 200) })
        const json = jsonEvent({ type: 'Text', data: { text: '🍷\u0000\u2028' }, metadata: { more: ['é'] } })
        await append(stream, 'no_stream', [binary, json])
        expect(await read(stream)).toMatchObject([
          {
            id: binary.id,
            type: 'Größe',
            isJson: false,
            data: binary.data,
            metadata: binary.metadata,
            streamId: stream,
          },
          { id: json.id, type: 'Text', isJson: true, data: json.data, metadata: json.metadata, streamId: stream },
        ])
      })

      test('that does not exist says so', async () => {
        const backwards = { direction: 'backwards', fromRevision: 'end' } as const
        for (const options of [{}, { fromRevision: 3n }, backwards]) {
          const stream = fresh()
          const error = await read(stream, options).catch((cause: unknown) => cause)
          expect(error).toMatchObject({ type: 'stream-not-found', streamName: stream })
        }
      })

      test('begins at its revision both ways, and ends at the count', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(5))
        expect(await revisions(stream)).toEqual([0, 1, 2, 3, 4])
        expect(await revisions(stream, { fromRevision: 3n })).toEqual([3, 4])
        expect(await revisions(stream, { fromRevision: 5n })).toEqual([])
        expect(await revisions(stream, { fromRevision: 1n, maxCount: 2 })).toEqual([1, 2])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 2 })).toEqual([4, 3])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 1n })).toEqual([1, 0])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 9n, maxCount: 3 })).toEqual([4, 3, 2])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 'start' })).toEqual([0])
      })

      test('that was truncated begins at its first event, and grows', async () => {
        const stream = fresh()
        const first = events(3)
        await append(stream, 'no_stream', first)
        await append(stream, 2n, events(2))
        await client.setStreamMetadata(stream, { truncateBefore: 3 })
        expect(await client.getStreamMetadata(stream)).toMatchObject({ metadata: { truncateBefore: 3 } })
        expect(await revisions(stream)).toEqual([3, 4])
        expect(await revisions(stream, { fromRevision: 1n })).toEqual([3, 4])
        expect(await revisions(stream, { fromRevision: 0n, maxCount: 2 })).toEqual([3, 4])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 'end' })).toEqual([4, 3])
        expect(await revisions(stream, { direction: 'backwards', fromRevision: 1n })).toEqual([])
        expect(await append(stream, 4n, events(1))).toMatchObject({ nextExpectedRevision: 5n })
        expect(await append(stream, 'no_stream', first)).toMatchObject({ nextExpectedRevision: 2n })
        expect(await refused(stream, 1n, events(1))).toMatchObject({ actual: 5n })
      })

      test('that was wholly truncated is empty and exists', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(2))
        await client.setStreamMetadata(stream, { truncateBefore: 2 })
        expect(await revisions(stream)).toEqual([])
        expect(await refused(stream, 'no_stream', events(1))).toMatchObject({ actual: 1n })
        expect(await append(stream, 1n, events(1))).toMatchObject({ nextExpectedRevision: 2n })
        expect(await revisions(stream)).toEqual([2])
      })
    })

    describe('read of everything', () => {
      test('gives each event a position, in the order of the appends', async () => {
        const [one, two] = [fresh(), fresh()]
        await append(one, 'no_stream', events(2))
        await append(two, 'no_stream', events(2))
        await append(one, 1n, events(1))
        const [begin] = await read(one)
        const all = await readAll({ fromPosition: begin?.position ?? 'end' })
        const ours = all.filter(({ streamId }) => streamId === one || streamId === two)
        expect(ours.map(({ streamId, revision }) => [streamId, Number(revision)])).toEqual([
          [one, 0],
          [one, 1],
          [two, 0],
          [two, 1],
          [one, 2],
        ])
        const commits = all.map(({ position }) => position.commit)
        expect(commits).toEqual(commits.toSorted((a, b) => (a < b ? -1 : 1)))
        expect(new Set(commits).size).toBe(all.length)
        expect(all.every(({ position }) => position.commit === position.prepare)).toBe(true)
      })

      test('includes its position forwards, and not backwards', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(3))
        const [first, second, third] = await read(stream)
        if (first === undefined || second === undefined || third === undefined) throw new Error('not written')
        const forwards = await readAll({ fromPosition: second.position ?? 'end', maxCount: 2 })
        expect(forwards.map(({ id }) => id)).toEqual([second.id, third.id])
        const backwards = await readAll({ direction: 'backwards', fromPosition: second.position ?? 'end', maxCount: 1 })
        expect(backwards.map(({ id }) => id)).toEqual([first.id])
      })

      test('from the end is empty forwards, and has the last event backwards', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(2))
        expect(await readAll({ fromPosition: 'end' })).toEqual([])
        const all = await readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 100 })
        expect(all.filter(({ streamId }) => streamId === stream).map(({ revision }) => Number(revision))).toEqual([
          1, 0,
        ])
      })

      test('shows events of others and of the server, and truncated events', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(2))
        const [begin] = await read(stream)
        await client.setStreamMetadata(stream, { truncateBefore: 1 })
        const all = await readAll({ fromPosition: begin?.position ?? 'end' })
        const seen = all
          .filter(({ streamId }) => streamId.endsWith(stream))
          .map(({ streamId, type }) => [streamId, type])
        expect(seen).toEqual([
          [stream, 'Something'],
          [stream, 'Something'],
          [`$$${stream}`, '$metadata'],
        ])
        expect((await readAll({ maxCount: 1 })).map(({ streamId }) => streamId)).toEqual(['$$$scavenges'])
      })

      test('from a position without an event is refused', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(2))
        const commit = ((await read(stream))[0]?.position?.commit ?? 0n) + 3n
        const error = await readAll({ fromPosition: { commit, prepare: commit } }).catch((cause: unknown) => cause)
        expect(error).toMatchObject({ type: 'unknown' })
      })
    })

    describe('subscription', () => {
      type Told = readonly [what: string, revision?: number]
      const follow = (
        prefix: string,
        options: { fromPosition?: 'start' | 'end'; after?: AllStreamResolvedEvent } = {},
      ) => {
        const told: Told[] = []
        const checkpoints: bigint[] = []
        let look = (): void => {}
        const filter = streamNameFilter({
          prefixes: [prefix],
          checkpointInterval: 1,
          maxSearchWindow: 4,
          checkpointReached: async (_, position) => {
            checkpoints.push(position.commit)
            look()
          },
        })
        const position = options.after?.event?.position
        const subscription = client.subscribeToAll({
          fromPosition: position ?? options.fromPosition ?? 'start',
          filter,
        })
        const tell = (...what: Told): void => {
          told.push(what)
          look()
        }
        subscription.on('confirmation', () => tell('confirmed'))
        subscription.on('caughtUp', () => tell('caught up'))
        subscription.on('error', (error) => tell(String(error)))
        subscription.on('data', ({ event }) => tell(event?.streamId ?? '', Number(event?.revision)))
        const until = (condition: () => boolean): Promise<void> =>
          new Promise((resolve) => {
            look = () => {
              if (condition()) resolve()
            }
            look()
          })
        return { told, checkpoints, until, end: () => subscription.unsubscribe() }
      }

      test('delivers old events, says that it has caught up, then new events', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(2))
        await append(`other-${stream}`, 'no_stream', events(2))
        const following = follow(stream)
        await following.until(() => following.told.length >= 4)
        await append(`other-${stream}`, 1n, events(1))
        await append(stream, 1n, events(2))
        await following.until(() => following.told.length >= 6)
        await following.end()
        expect(following.told).toEqual([
          ['confirmed'],
          [stream, 0],
          [stream, 1],
          ['caught up'],
          [stream, 2],
          [stream, 3],
        ])
      })

      test('begins after its position', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(3))
        let second: AllStreamResolvedEvent | undefined
        for await (const resolved of client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 50 })) {
          if (resolved.event?.streamId === stream && resolved.event.revision === 1n) second = resolved
        }
        if (second === undefined) throw new Error('not found')
        const following = follow(stream, { after: second })
        await following.until(() => following.told.length >= 3)
        await following.end()
        expect(following.told).toEqual([['confirmed'], [stream, 2], ['caught up']])
      })

      test('from the end delivers only new events', async () => {
        const stream = fresh()
        await append(stream, 'no_stream', events(3))
        const following = follow(stream, { fromPosition: 'end' })
        await following.until(() => following.told.length >= 2)
        await append(stream, 2n, events(1))
        await following.until(() => following.told.length >= 3)
        await following.end()
        expect(following.told).toEqual([['confirmed'], ['caught up'], [stream, 3]])
      })

      test('with a filter says how far it has looked', async () => {
        const stream = fresh()
        const following = follow(stream, { fromPosition: 'end' })
        await following.until(() => following.told.length >= 2)
        await append(`other-${stream}`, 'no_stream', events(12))
        await following.until(() => following.checkpoints.length >= 3)
        await following.end()
        const positions = (await read(`other-${stream}`)).map(({ position }) => position?.commit)
        expect(following.checkpoints.some((commit) => positions.includes(commit))).toBe(true)
        expect(following.told).toEqual([['confirmed'], ['caught up']])
      })

      test('resumes from a checkpoint without loss', async () => {
        const stream = fresh()
        const following = follow(stream, { fromPosition: 'end' })
        await following.until(() => following.told.length >= 2)
        await append(`other-${stream}`, 'no_stream', events(8))
        await following.until(() => following.checkpoints.length >= 2)
        await following.end()
        await append(stream, 'no_stream', events(1))
        const commit = following.checkpoints.at(-1) ?? 0n
        const found: string[] = []
        const resumed = client.subscribeToAll({ fromPosition: { commit, prepare: commit } })
        for await (const { event } of resumed) {
          if (event !== undefined) found.push(event.streamId)
          if (event?.streamId === stream) break
        }
        await resumed.unsubscribe()
        expect(found).toContain(stream)
      })

      test('of one stream delivers only that stream, also a new one', async () => {
        const stream = fresh()
        const seen: number[] = []
        const subscription = client.subscribeToStream(stream, { fromRevision: 'start' })
        await append(stream, 'no_stream', events(3))
        for await (const { event } of subscription) {
          seen.push(Number(event?.revision))
          if (seen.length === 3) break
        }
        await subscription.unsubscribe()
        expect(seen).toEqual([0, 1, 2])
      })
    })
  })
}
