import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusalBytesFile } from '../../src/log/refusal-bytes-file.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'refusal-bytes')
})
afterEach(() => folder.remove())

test('the file keeps the last day and its bytes, for its owner only', () => {
  const file = refusalBytesFile(folder.path)
  expect(file.load()).toBeNull()
  file.save({ day: 20_515, bytes: 65_536 })
  file.save({ day: 20_516, bytes: 7 })
  expect(refusalBytesFile(folder.path).load()).toEqual({ day: 20_516, bytes: 7 })
  expect(readFileSync(path, 'utf8')).toBe('20516 7\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test.each(['', '20516', '20516 7', '20516 -7\n', '20516 1e9\n', 'x y\n', `${'9'.repeat(40)} 1\n`])(
  'the content %j counts as no file',
  (content) => {
    writeFileSync(path, content)
    expect(refusalBytesFile(folder.path).load()).toBeNull()
  },
)

test('a file that cannot be read or written ends nothing', () => {
  mkdirSync(path)
  const file = refusalBytesFile(folder.path)
  file.save({ day: 1, bytes: 1 })
  expect(file.load()).toBeNull()
})
