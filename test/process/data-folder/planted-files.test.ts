import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFolderFile } from '../../../src/log/folder-file.ts'
import { cellarbook, newFolder } from '../../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

let count = 0
/** A data folder in which its group may write, and a file outside that the group may not write. */
const sharedFolder = () => {
  const dataDir = join(folder.path, `data-${count++}`)
  mkdirSync(dataDir, { mode: 0o770 })
  const outside = `${dataDir}-outside`
  writeFileSync(outside, 'outside')
  return { dataDir, outside }
}

const plant = {
  link: (path: string, outside: string) => symlinkSync(outside, path),
  pipe: (path: string) => expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0),
}
const kinds = ['link', 'pipe'] as const

const names = [
  'log.db',
  'log.db-wal',
  'log.lock',
  'log.witness',
  'idempotency.db',
  'ask.db',
  'readings.db',
  'excused.json',
]

test('a damaged log.lock stops the start with 78, which says to delete it', async () => {
  const { dataDir } = sharedFolder()
  const lock = join(dataDir, 'log.lock')
  writeFileSync(lock, Buffer.alloc(8_192, 0xa5), { mode: 0o600 })
  const { exitCode, stderr } = await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir, EVENTSTORE_URL: '' })
  expect([exitCode, stderr]).toEqual([78, expect.stringContaining(`delete "${lock}"`)])
  rmSync(lock)
  expect((await cellarbook(['cellar', 'create', 'c'], { DATA_DIR: dataDir, EVENTSTORE_URL: '' })).exitCode).toBe(0)
})

describe('a link or a pipe in the place of a file of the data folder', () => {
  test.each(kinds)('stops the start with 78, whichever file it is: %s', async (kind) => {
    const { dataDir, outside } = sharedFolder()
    for (const name of names) plant[kind](join(dataDir, name), outside)
    const { exitCode, stderr } = await cellarbook(['serve'], { DATA_DIR: dataDir })
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining('is a link or no regular file')])
    for (const name of names) expect(stderr).toContain(`'${join(dataDir, name)}'`)
    expect(readFileSync(outside, 'utf8')).toBe('outside')
  })

  test.each(kinds)('is not opened after the start either: %s', (kind) => {
    const { dataDir, outside } = sharedFolder()
    plant[kind](join(dataDir, 'other'), outside)
    for (const access of ['read', 'update', 'replace'] as const) {
      expect(() => openFolderFile(join(dataDir, 'other'), access)).toThrow(expect.objectContaining({ syscall: 'open' }))
    }
    expect(readFileSync(outside, 'utf8')).toBe('outside')
  })
})
