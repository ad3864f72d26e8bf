import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { type OpenCore, openCore } from '../../../src/actors/open-core.ts'
import { systemClock } from '../../../src/clock.ts'
import { batchReadingsMax } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import { logQueueReadingsMax } from '../../../src/log/queue-room.ts'
import type { Commits } from '../../../src/log/sqlite/sqlite-commits.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { commitsHere } from '../../log/sqlite/commits-here.ts'
import { columnsOf } from '../../support/logs/columns-of.ts'
import { seededEntropy } from '../../support/seeded-entropy.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { asker, cellar, reading } from '../../support/two-nodes.ts'

setDefaultTimeout(600_000)

let folder: TemporaryFolder
let log: EventLog
let core: OpenCore
/** Each commit waits until this promise resolves, as if the disk were slow. */
let disk: Promise<void>

beforeEach(async () => {
  folder = temporaryFolder()
  disk = Promise.resolve()
  log = openSqliteLog({ dataDir: folder.path, commits: stalling })
  core = await openCore({ log, clock: systemClock, entropy: seededEntropy(1) })
  await core.cellars.create({ cellar, title: '' }, asker)
})

afterEach(async () => {
  await core.drain()
  await log.close()
  folder.remove()
})

test('revocation and suspension succeed while readings fill the log’s queue', async () => {
  const keyIds: string[] = []
  while (keyIds.length < fillers + 4) keyIds.push(await makeKey())
  const [stolen = '', lost = '', ...others] = keyIds
  await Promise.all(keyIds.map((keyId) => core.keys.accept(keyId, reading, crypto.randomUUID())))
  const back = Promise.withResolvers<void>()
  disk = back.promise
  // At most two commit groups are under way at once. The first two readings make one group each, so all later appends queue.
  const [first = '', second = '', ...more] = others
  const answers = [core.keys.accept(first, reading, crypto.randomUUID())]
  await turn()
  answers.push(core.keys.accept(second, reading, crypto.randomUUID()))
  await turn()
  const batch = Array.from({ length: batchReadingsMax }, () => reading)
  let room = logQueueReadingsMax
  for (const keyId of more) {
    const readings = columnsOf(batch.slice(0, Math.max(1, room)))
    answers.push(core.keys.accept(keyId, readings, crypto.randomUUID()))
    room -= readings.count
  }
  await turn()
  const changes = [core.keys.revoke(stolen, '', asker), core.keys.suspend(lost, '', asker)]
  await turn()
  back.resolve()
  for (const change of await Promise.all(changes)) expect(change).toMatchObject({ ok: true })
  const refused = (await Promise.all(answers)).filter((answer) => !answer.ok)
  expect(refused).toMatchObject([{ refusal: { kind: 'overloaded' } }])
  for (const keyId of [stolen, lost]) {
    expect(await core.keys.accept(keyId, reading, crypto.randomUUID())).toMatchObject({ ok: false })
  }
})

/** All these keys except the last one fill the queue with one batch each. So the reading of the last key must be refused. */
const fillers = Math.ceil(logQueueReadingsMax / batchReadingsMax) + 1

const makeKey = async (): Promise<string> => {
  const limit = { readings: 100_000, windowMs: 60_000 }
  const made = await core.keys.create({ cellar, label: '', note: '', limit, expiresAt: null }, asker)
  if (!made.ok) throw new Error(`Cannot make a key for a test: ${made.refusal.kind}`)
  return made.value.state.keyId
}

const turn = async (): Promise<void> => {
  for (let times = 0; times < 5; times += 1) await new Promise((resolve) => setImmediate(resolve))
}

const stalling = (path: string): Commits => {
  const commits = commitsHere(() => {})(path)
  return {
    get fault() {
      return commits.fault
    },
    walHeldBack: null,
    witnessFault: null,
    commit: async (batch) => {
      await disk
      return commits.commit(batch)
    },
    truncate: (truncation) => commits.truncate(truncation),
    trim: (trimming) => commits.trim(trimming),
    emptyWriteAheadLog: () => commits.emptyWriteAheadLog(),
    close: () => commits.close(),
  }
}
