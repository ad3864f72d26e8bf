import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { readWitness } from '../../../src/log/tail/witness-file.ts'
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf, folderWith, type Moment, momentsOf } from './killed-log.ts'

let folder: TemporaryFolder
let moments: readonly Moment[]

beforeAll(async () => {
  folder = temporaryFolder()
  moments = await momentsOf(folderWith(folder.path, {}), 12)
})
afterAll(() => folder.remove())

const lastPositionIn = (events: readonly string[]): number => Number(events.at(-1)?.split(' ')[0])
const witnessIn = (dataDir: string) => readWitness(join(dataDir, 'log.witness'))

describe('the witness', () => {
  test('names the last position after each commit', () => {
    for (const { files, events } of moments) {
      const dataDir = folderWith(folder.path, files)
      expect(witnessIn(dataDir)?.position).toBe(lastPositionIn(events))
    }
  })

  test('is made for a log that has none, for its owner only', async () => {
    const last = moments.at(-1)
    const dataDir = folderWith(folder.path, last?.files ?? {})
    const path = join(dataDir, 'log.witness')
    rmSync(path)
    const log = openSqliteLog({ dataDir })
    expect(await eventsOf(log)).toEqual([...(last?.events ?? [])])
    await log.close()
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
    expect(witnessIn(dataDir)?.position).toBe(lastPositionIn(last?.events ?? []))
  })
})
