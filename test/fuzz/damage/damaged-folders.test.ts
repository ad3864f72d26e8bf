import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { timesToTry } from '../../support/long-trials.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf, type Heard, hear, judge, type Known, removeFolder } from './judge.ts'
import { type MadeFolders, type Moment, makeFolders, writeFiles } from './made-folders.ts'
import { Results } from './results.ts'
import { damagedCopy } from './trial.ts'

const count = Number(process.env['DAMAGE_TRIALS'] ?? timesToTry(100, 300))
const firstSeed = Number(process.env['DAMAGE_SEED'] ?? 19)

setDefaultTimeout(300_000 + count * 5_000)

let folder: TemporaryFolder
let made: MadeFolders
let known: Known
let sound: Heard

beforeAll(async () => {
  folder = temporaryFolder()
  made = await makeFolders(folder.path, Date.UTC(2026, 2, 20, 12))
  known = await eventsOf(copyOf('killed'), made)
  sound = await hear(copyOf('killed'), made, known)
})
afterAll(() => folder.remove())

let copies = 0
const copyOf = (moment: Moment): string => {
  const dataDir = join(folder.path, `copy-${copies++}`)
  writeFiles(dataDir, made.files[moment])
  return dataDir
}

describe('a folder', () => {
  test('is served without an alarm while it is sound', async () => {
    expect([sound.refusal, sound.checked, sound.warnings, sound.bugs, sound.troubles]).toEqual([null, null, [], [], []])
    expect(known.events.length).toBeGreaterThan(2_000)
    const truth = new Map([...sound.served, ...sound.read])
    for (const moment of ['killed', 'closed'] as const) {
      const verdict = judge(await hear(copyOf(moment), made, known), truth)
      expect([moment, verdict]).toEqual([moment, { kind: 'right', words: [] }])
    }
  })

  test(`is never served in silence after damage, in ${count} trials`, async () => {
    console.log(`DAMAGE_SEED=${firstSeed} DAMAGE_TRIALS=${count} repeats these trials`)
    const truth = new Map([...sound.served, ...sound.read])
    const results = new Results()
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const trial = damagedCopy(made, folder.path, seed)
      results.add(trial, judge(await hear(trial.dataDir, made, known), truth))
      removeFolder(trial.dataDir)
    }
    console.log(results.table())
    expect(results.failed).toEqual([])
  })
})
