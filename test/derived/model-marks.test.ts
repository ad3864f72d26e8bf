import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelKinds } from '../../src/derived/model-kinds.ts'
import { modelMarks } from '../../src/derived/model-marks.ts'
import { derivedHere } from '../support/derived/derived-here.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { reading } from '../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { manualClock } from '../support/time/manual-clock.ts'
import { until } from '../support/time/until.ts'

const stream = 'readings-one'
let folder: TemporaryFolder

beforeEach(async () => {
  folder = temporaryFolder()
  const log = createMemoryLog()
  await log.append(stream, 'none', [reading(stream), reading(stream)])
  const derived = derivedHere(log, { clock: manualClock(), folder: { path: folder.path, remove: () => {} } })
  derived.store.start()
  for (const { name } of modelKinds) {
    await until(() => !derived.store.progress(name).isBehind)
    await derived.store.upTo(name)
  }
  await derived.store.stop()
  derived.close()
})
afterEach(() => folder.remove())

const markOf = (name: string) => ({
  source: `${name}.db`,
  logId: 'a log',
  position: 2,
  event: `revision 1 of "${stream}"`,
})

describe('modelMarks', () => {
  test('names the last event of each model', () => {
    expect(modelMarks(folder.path)).toEqual(modelKinds.map(({ name }) => markOf(name)))
  })

  test.each([
    ['is missing', (file: string) => rmSync(file)],
    ['is no database', (file: string) => writeFileSync(file, 'no database')],
    ['names another position', (file: string) => harm(file, 'UPDATE head SET position = position + 1')],
    ['names another log', (file: string) => harm(file, 'DELETE FROM of_log')],
  ])('leaves out a model whose file %s', (_, how) => {
    how(join(folder.path, 'ask.db'))
    expect(modelMarks(folder.path).map(({ source }) => source)).toEqual(['idempotency.db', 'readings.db'])
  })
})

const harm = (file: string, statement: string): void => {
  using database = new Database(file)
  database.run(statement)
}
