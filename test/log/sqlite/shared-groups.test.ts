import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { groupsUnderWayMax } from '../../../src/limits.ts'
import { CommitRegions, commitRegionBytes } from '../../../src/log/sqlite/commit-regions.ts'
import { GroupPacker, type PackedGroup } from '../../../src/log/sqlite/packed-group.ts'
import type { Commits, CommitVerdict } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openForReading } from '../../../src/log/sqlite/sqlite-file.ts'
import { commitOnThread } from '../../../src/log/sqlite/threaded-commits.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'

type Body = string | Uint8Array

const written: CommitVerdict = { kind: 'written' }
const rowBytes = 56

let folder: TemporaryFolder
let database: ReturnType<typeof openForReading>
let commits: Commits
let nextPosition: number

beforeEach(() => {
  folder = temporaryFolder()
  const path = join(folder.path, 'log.db')
  database = openForReading(path, {})
  commits = commitOnThread(path)
  nextPosition = 1
})

afterEach(async () => {
  await commits.close()
  database.close(true)
  folder.remove()
})

const groupOf = (bodies: readonly Body[], epoch = 0): PackedGroup => {
  const packer = new GroupPacker()
  if (nextPosition === 1) packer.beginStream(1, 'signins-one')
  for (const body of bodies) {
    const row = { count: 1, recordedAt: 1_700_000_000_000 + nextPosition, body, bytes: body.length, isInBuffer: false }
    packer.addRow(row, { position: nextPosition, stream: 1, revision: nextPosition - 1, nameChecksum: 0 })
    nextPosition += 1
  }
  return packer.pack(epoch)
}

/** A body whose group, if it has no other row, has `groupBytes` bytes. */
const bodyOfGroup = (groupBytes: number, byte: number): Uint8Array => new Uint8Array(groupBytes - rowBytes).fill(byte)

const storedRows = () =>
  database
    .query<{ position: number; revision: number; recorded_at: number; body: Body }, []>(
      'SELECT position, revision, recorded_at, body FROM events ORDER BY position',
    )
    .all()

const expectStored = (bodies: readonly Body[]): void => {
  const rows = storedRows()
  expect(rows.map(({ position }) => position)).toEqual(bodies.map((_, index) => index + 1))
  for (const [index, { revision, recorded_at, body }] of rows.entries()) {
    expect([revision, recorded_at]).toEqual([index, 1_700_000_000_001 + index])
    // Not in the error message, because a body can have megabytes.
    expect(typeof body).toBe(typeof bodies[index])
    expect(Buffer.from(body as string).equals(Buffer.from(bodies[index] as string))).toBe(true)
  }
}

describe('the commit thread', () => {
  // The thread has not opened its file yet when the last group is sent. So a region that is used again before the
  // verdict of its group holds wrong rows when the thread reads it.
  test('reads each group as it was sent, with more groups than regions', async () => {
    const groups = Array.from({ length: groupsUnderWayMax + 2 }, (_, group) => [
      new Uint8Array(1_000).fill(group),
      `["Grüße aus dem Keller", ${group}]`,
      new Uint8Array(0),
    ])
    const verdicts = await Promise.all(groups.map((bodies) => commits.commit(groupOf(bodies))))
    expect(verdicts).toEqual(groups.map(() => written))
    expectStored(groups.flat())
  })

  test('reads each group as it was sent, when regions are used again', async () => {
    const groups = Array.from({ length: 60 }, (_, group) =>
      Array.from({ length: 1 + (group % 7) }, (_, row) =>
        new Uint8Array(1 + ((group * 7_919) % 50_000)).fill(group + row),
      ),
    )
    let before: Promise<unknown> = Promise.resolve()
    for (const bodies of groups) {
      const underWay = commits.commit(groupOf(bodies))
      await before
      before = underWay
    }
    expect(await before).toEqual(written)
    expectStored(groups.flat())
  })

  test('reads each group from a region, when earlier groups have their verdicts', async () => {
    const take = spyOn(CommitRegions.prototype, 'take')
    try {
      const groups = 2 * groupsUnderWayMax + 1
      for (let group = 0; group < groups; group += 1) await commits.commit(groupOf(['a body']))
      expect(take).toHaveBeenCalledTimes(groups)
      expect(take.mock.results.map(({ value }) => value)).not.toContain(null)
    } finally {
      take.mockRestore()
    }
  })

  test('writes a group that fills its region, and one of a byte more', async () => {
    const bodies = [bodyOfGroup(commitRegionBytes, 1), bodyOfGroup(commitRegionBytes + 1, 2), bodyOfGroup(100, 3)]
    const groups = bodies.map((body) => groupOf([body]))
    expect(groups.map(({ byteLength }) => byteLength)).toEqual([commitRegionBytes, commitRegionBytes + 1, 100])
    for (const verdict of await Promise.all(groups.map((group) => commits.commit(group))))
      expect(verdict).toEqual(written)
    expectStored(bodies)
  })

  test('writes a group of a new epoch after groups that were not written', async () => {
    expect(await commits.commit(groupOf(['first']))).toEqual(written)
    nextPosition = 1
    const taken = groupOf(['taken'])
    for (let epoch = 1; epoch <= groupsUnderWayMax + 1; epoch += 1) {
      const failed = commits.commit({ ...taken, epoch })
      const behind = commits.commit({ ...taken, epoch })
      expect((await failed).kind).toBe('overlaps')
      expect((await behind).kind).toBe('superseded')
    }
    nextPosition = 2
    expect(await commits.commit(groupOf(['second'], groupsUnderWayMax + 2))).toEqual(written)
    expectStored(['first', 'second'])
  })

  test('reads a group again after a failed commit, with more groups behind it', async () => {
    const thread = new URL('./failing-commit-thread.ts', import.meta.url)
    const failing = commitOnThread(join(folder.path, 'log.db'), thread)
    const bodies = ['first', 'second', 'third', 'fourth']
    const verdicts = await Promise.all(bodies.map((body) => failing.commit(groupOf([body]))))
    expect(verdicts).toEqual([{ kind: 'written', survived: 'disk I/O error' }, written, written, written])
    await failing.close()
    expectStored(bodies)
  })

  test('truncates, deletes and empties its log between groups, in order', async () => {
    const asked = [
      commits.commit(groupOf(['first', 'second', 'third'])),
      commits.truncate({ stream: 1, keptFrom: 2, checksum: 0 }),
      commits.trim({ stream: 1, isErased: true }),
      commits.commit(groupOf(['fourth'])),
      commits.emptyWriteAheadLog(),
      commits.commit(groupOf(['fifth'])),
    ]
    expect(await Promise.all(asked)).toEqual(asked.map(() => written))
    expect(storedRows().map(({ body }) => body)).toEqual(['third', 'fourth', 'fifth'])
  })

  test('commits the groups under way before it closes', async () => {
    const underWay = [commits.commit(groupOf(['first'])), commits.commit(groupOf(['second']))]
    await commits.close()
    expect(await Promise.all(underWay)).toEqual([written, written])
    expectStored(['first', 'second'])
  })
})
