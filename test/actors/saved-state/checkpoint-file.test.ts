import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointFile } from '../../../src/actors/saved-state/checkpoint-file.ts'
import { checkpointSyncBytes } from '../../../src/limits.ts'
import { type Folder, newFolder } from '../../support/cellarbook.ts'

let folder: Folder
beforeEach(() => {
  folder = newFolder()
})
afterEach(() => folder.remove())

const piece = (text: string): Uint8Array => Buffer.from(text)
const textsIn = (dataDir: string): readonly string[] | null => {
  const pieces = checkpointFile(dataDir).read()
  return pieces === null ? null : Array.from(pieces, (one) => Buffer.from(one).toString())
}
const pathOf = ({ path }: Folder): string => join(path, 'checkpoint')

describe('a checkpoint file', () => {
  test('returns its pieces in order, and only its owner can read it', async () => {
    expect(textsIn(folder.path)).toBeNull()
    const large = 'x'.repeat(checkpointSyncBytes + 1)
    await checkpointFile(folder.path).write([piece('one'), piece(large), piece('three')])
    expect(textsIn(folder.path)).toEqual(['one', large, 'three'])
    expect(statSync(pathOf(folder)).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.path)).toEqual(['checkpoint'])
  })

  test('is refused with any bit changed, or cut off anywhere', async () => {
    await checkpointFile(folder.path).write([piece('one'), piece('two')])
    const whole = readFileSync(pathOf(folder))
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const damaged = Buffer.from(whole)
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      writeFileSync(pathOf(folder), damaged)
      expect(() => textsIn(folder.path)).toThrow(RangeError)
    }
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(pathOf(folder), whole.subarray(0, length))
      expect(() => textsIn(folder.path)).toThrow(RangeError)
    }
  })

  test('is refused with a piece missing, or two swapped', async () => {
    const frames = async (texts: readonly string[]): Promise<Buffer> => {
      await checkpointFile(folder.path).write(texts.map(piece))
      return readFileSync(pathOf(folder))
    }
    const [begin, frame] = [8, 8 + 3]
    const whole = await frames(['one', 'two', 'six'])
    const at = (index: number): Buffer => whole.subarray(begin + index * frame, begin + (index + 1) * frame)
    const end = whole.subarray(begin + 3 * frame)
    for (const order of [
      [1, 0, 2],
      [0, 2],
      [0, 1],
      [0, 1, 2, 2],
    ]) {
      writeFileSync(pathOf(folder), Buffer.concat([whole.subarray(0, begin), ...order.map(at), end]))
      expect(() => textsIn(folder.path)).toThrow(RangeError)
    }
  })

  test('stays whole while the next is written, also when that fails', async () => {
    const file = checkpointFile(folder.path)
    await file.write([piece('old')])
    const seen: (readonly string[] | null)[] = []
    function* pieces() {
      yield piece('new')
      seen.push(textsIn(folder.path))
      throw new Error('half-way')
    }
    await expect(file.write(pieces())).rejects.toThrow('half-way')
    expect(seen).toEqual([['old']])
    expect(textsIn(folder.path)).toEqual(['old'])
    expect(readdirSync(folder.path)).toEqual(['checkpoint'])
  })

  test('is not replaced by a file that a killed process began', async () => {
    writeFileSync(`${pathOf(folder)}.new`, 'CLRBCHK1 and then nothing')
    expect(textsIn(folder.path)).toBeNull()
    await checkpointFile(folder.path).write([piece('whole')])
    expect(textsIn(folder.path)).toEqual(['whole'])
    expect(readdirSync(folder.path)).toEqual(['checkpoint'])
  })

  test('says why it cannot be written, and can always be discarded', async () => {
    mkdirSync(`${pathOf(folder)}.new`)
    await expect(checkpointFile(folder.path).write([piece('x')])).rejects.toThrow()
    const elsewhere = newFolder()
    await checkpointFile(elsewhere.path).write([piece('x')])
    await checkpointFile(elsewhere.path).discard()
    await checkpointFile(elsewhere.path).discard()
    expect(existsSync(pathOf(elsewhere))).toBeFalse()
    elsewhere.remove()
  })
})
