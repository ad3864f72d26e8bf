import { expect, test } from 'bun:test'
import { appending } from '../../src/cli/commands/export-file.ts'

/** A file on a disk that takes at most `bytesAtOnce` bytes of a write, and nothing beyond `bytesMax`. */
const smallFile = (bytesAtOnce: number, bytesMax: number) => {
  const content = Buffer.alloc(bytesMax)
  let size = 0
  const write = async (bytes: Buffer, offset: number, length: number, at: number) => {
    const bytesWritten = Math.min(length, bytesAtOnce, bytesMax - at)
    if (bytesWritten === 0) throw new Error('no space left on the disk')
    bytes.copy(content, at, offset, offset + bytesWritten)
    size = Math.max(size, at + bytesWritten)
    return { bytesWritten, buffer: bytes }
  }
  return { write: write as never, text: () => content.toString('utf8', 0, size) }
}

test('a row is written whole if the disk takes only parts of it', async () => {
  const file = smallFile(3, 100)
  const append = appending(file, 0)
  await append('first rów\n')
  await append('second\n')
  expect(file.text()).toBe('first rów\nsecond\n')
})

test('no row follows a row that did not fit on the disk', async () => {
  const file = smallFile(100, 12)
  const append = appending(file, 0)
  await append('first\n')
  await expect(append('second row\n')).rejects.toThrow('no space left')
  await expect(append('\n')).rejects.toThrow('no space left')
  expect(file.text()).toBe('first\nsecond')
})
