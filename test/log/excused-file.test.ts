import { afterAll, expect, test } from 'bun:test'
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { excusedFile } from '../../src/log/excused-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const path = join(folder.path, 'excused.json')
const file = excusedFile(folder.path)
const remembered = { ranMs: 20, heardTo: 7, excused: [[1, 2] as const, [5, 9] as const] }

test('excused.json gives back what was written last', async () => {
  expect(await file.read()).toBeNull()
  await file.write({ ranMs: 1, heardTo: 0, excused: [] })
  await file.write(remembered)
  expect(await file.read()).toEqual(remembered)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('excused.json is written once at a time', async () => {
  await Promise.all([file.write(remembered), file.write({ ranMs: 30, heardTo: 9, excused: [] })])
  expect(await file.read()).toEqual(remembered)
})

test.each(['', '{"ranMs":1', '{"ranMs":"1","heardTo":0,"excused":[]}', '[]'])(
  'a damaged excused.json counts as missing: %p',
  async (text) => {
    writeFileSync(path, text)
    expect(await file.read()).toBeNull()
  },
)

test('a link in the place of excused.json is not followed', async () => {
  const outside = join(folder.path, 'outside')
  writeFileSync(outside, JSON.stringify(remembered))
  rmSync(path)
  symlinkSync(outside, path)
  symlinkSync(outside, `${path}.new`)
  expect(await file.read()).toBeNull()
  await file.write({ ranMs: 1, heardTo: 0, excused: [] })
  expect(JSON.parse(readFileSync(outside, 'utf8'))).toEqual(remembered)
})
