import { describe, expect, test } from 'bun:test'
import { everyMeaning } from '../../../src/domain/search/every-meaning.ts'

const nowMs = Date.UTC(2026, 2, 1, 10, 14, 7)
const id = '019ca8df-0403-7000-8000-000000000000'
const cellars = ['wine-berlin', '7Qp2mZ4k', 'ada@example.org', '10:14']
const near = {
  nowMs,
  cellarsNamed: (text: string) => cellars.filter((cellar) => cellar === text),
  keysLabelled: (text: string) => (text === 'Press, south' || text === '10:14' ? ['7Qp2mZ4k'] : []),
}

describe('everyMeaning()', () => {
  test.each([
    ['a receipt', 'readings-7Qp2mZ4k@976', ['receipt']],
    ['a range of receipts', 'readings-7Qp2mZ4k@976-980', ['receipt']],
    ['an id', id, ['id']],
    ['a cellar', 'wine-berlin', ['cellar']],
    ['a name of a key and of a cellar', '7Qp2mZ4k', ['key', 'cellar']],
    ['the beginning of a key', 'clr_7Qp2mZ4k_…', ['key']],
    ['an e-mail', 'Eve@example.org', ['operator']],
    ['an e-mail that is a cellar too', 'ada@example.org', ['cellar', 'operator']],
    ['a clock time', '9:30', ['instant']],
    ['a label of a key', 'Press, south', ['labelled']],
    ['a clock time that is a cellar and a label too', '10:14', ['cellar', 'labelled', 'instant']],
    ['a number', '1772360047', ['position', 'instant']],
    ['words about a time', 'yesterday 18:00', ['instant']],
    ['a word for a day', 'Yesterday', ['span']],
    ['a day', '2026-02-28', ['span']],
    ['a range of times', '00:30..00:40', ['span']],
    ['a number with a zero in front, like a part of a label', '0421', []],
    ['a day that does not exist', '2026-02-30', []],
    ['nothing', '', []],
    ['anything else', 'no such thing', []],
  ])('recognizes %s', (_, text, kinds) => {
    expect(everyMeaning(text, near).map(({ kind }): string => kind)).toEqual(kinds)
  })

  test('takes a whole API key for its id, without its secret', () => {
    const key = 'clr_7Qp2mZ4k_4fXk9TqW2nLr8vYb5mZc7pGh3sJd6uKe1wAa0xQ94fGh2J1k0b3Z'
    expect(everyMeaning(key, near)).toEqual([{ kind: 'key', keyId: '7Qp2mZ4k' }])
  })
})
