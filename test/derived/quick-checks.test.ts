import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { modelPath } from '../../src/derived/model-file.ts'
import { startQuickChecks } from '../../src/derived/quick-checks.ts'
import { checkDelayMs, checkEveryMs } from '../../src/limits.ts'
import { followedHere, positionsModel } from '../support/derived/followed-here.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { freshKeyStream, keySuspended } from '../support/logs/sample-events.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { drivenSchedule } from '../support/time/driven-schedule.ts'
import { until } from '../support/time/until.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

test('a daily check finds a damaged page of a model, and asks to rebuild it', async () => {
  const log = createMemoryLog()
  for (let added = 0; added < 60; added += 1) await log.append(freshKeyStream(), 'none', [keySuspended()])
  const kinds = [positionsModel('one'), positionsModel('two')]
  const followed = followedHere(log, { dataDir: folder.path, kinds })
  await followed.whole('one', 'two')
  await followed.end()

  const rebuilt: string[] = []
  let asked = 0
  const opening = (): number => {
    asked += 1
    return 7
  }
  const store = { opening, rebuild: (model: string, of: number) => rebuilt.push(`${model} ${of}`) }
  const schedule = drivenSchedule()
  const stop = startQuickChecks({ store, schedule, dataDir: folder.path, models: ['one', 'two'] })
  await schedule.advance(checkDelayMs)
  expect(asked).toBe(2)
  const path = modelPath(folder.path, 'two')
  const bytes = readFileSync(path)
  // A page in the middle loses its type.
  writeFileSync(path, bytes.fill(0xee, 3 * 4_096, 3 * 4_096 + 8))
  await schedule.advance(checkEveryMs)
  await until(() => rebuilt.length > 0)
  expect(rebuilt).toEqual(['two 7'])
  stop()
})
