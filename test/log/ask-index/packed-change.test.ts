import { expect, test } from 'bun:test'
import { buffersOf, packedChange, unpackedChange } from '../../../src/log/ask-index/packed-change.ts'
import { changeTo, oneOfEach } from './sample-change.ts'

test('a packed change says the same after it was sent to a thread', () => {
  const texts = ['', 'kælder', '地下室', '🍷\n', '\ud83c', 'plain']
  const change = {
    ...oneOfEach(9),
    hourCounts: texts.map((key, count) => ({
      cellar: `c${count % 2}`,
      key,
      hour: 5,
      code: key,
      count: 2 ** 50 + count,
    })),
    seen: texts.map((rack, minute) => ({ key: `k ${rack}`, rack, minute })),
  }
  for (const each of [change, changeTo(9, 3)]) {
    const packed = packedChange(each)
    const sent = unpackedChange(structuredClone(packed, { transfer: [...buffersOf(packed)] }))
    const said = { ...sent, hourCounts: [...sent.hourCounts], seen: [...sent.seen] }
    expect<unknown>(said).toEqual(each)
    expect([...sent.seen]).toEqual(said.seen)
  }
})
