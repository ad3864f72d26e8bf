import { describe, expect, test } from 'bun:test'
import { storeStreamsRememberedMax } from '../../../src/limits.ts'
import { UnreadRevisions } from '../../../src/log/eventstoredb/unread-revisions.ts'

const named = (revision: number): UnreadRevisions => {
  const revisions = new UnreadRevisions()
  revisions.add('readings-a', revision)
  return revisions
}

describe('a read after a conflict with revision 7', () => {
  const page = { limit: 3 }
  const cases = [
    { title: 'shows nothing', options: { ...page, from: 5 }, shown: [], isMissing: true },
    { title: 'ends before it', options: { ...page, from: 5 }, shown: [5, 6], isMissing: true },
    { title: 'shows it', options: { ...page, from: 5 }, shown: [5, 6, 7], isMissing: false },
    { title: 'shows later events', options: { ...page, from: 7 }, shown: [7, 8], isMissing: false },
    { title: 'has a page that ends before it', options: { ...page, from: 3 }, shown: [3, 4, 5], isMissing: false },
    { title: 'begins after it', options: { ...page, from: 8 }, shown: [], isMissing: false },
    { title: 'begins at the first', options: page, shown: [0, 1], isMissing: true },
    {
      title: 'goes backwards from the last',
      options: { ...page, direction: 'backwards' as const },
      shown: [6, 5, 4],
      isMissing: true,
    },
    {
      title: 'goes backwards and shows it',
      options: { ...page, direction: 'backwards' as const },
      shown: [7, 6, 5],
      isMissing: false,
    },
    {
      title: 'goes backwards from before it',
      options: { ...page, from: 4, direction: 'backwards' as const },
      shown: [4, 3, 2],
      isMissing: false,
    },
  ]
  test.each(cases)('$title: isMissing() is $isMissing', ({ options, shown, isMissing }) => {
    expect(named(7).isMissing('readings-a', options, shown)).toBe(isMissing)
    expect(named(7).isMissing('readings-b', options, shown)).toBe(false)
  })

  test('waits no longer when it was read', () => {
    const revisions = named(7)
    revisions.markRead('readings-a', 6)
    expect(revisions.isMissing('readings-a', { limit: 9, from: 5 }, [5])).toBe(true)
    revisions.markRead('readings-a', 7)
    expect(revisions.isMissing('readings-a', { limit: 9, from: 5 }, [5])).toBe(false)
  })
})

test('a lower revision does not replace a higher one', () => {
  const revisions = named(7)
  revisions.add('readings-a', 3)
  expect(revisions.of('readings-a')).toBe(7)
})

test('UnreadRevisions forgets the oldest stream past its limit', () => {
  const revisions = new UnreadRevisions()
  for (let stream = 0; stream <= storeStreamsRememberedMax; stream += 1) revisions.add(`readings-${stream}`, 7)
  expect(revisions.of('readings-0')).toBe(null)
  expect(revisions.of('readings-1')).toBe(7)
  expect(revisions.of(`readings-${storeStreamsRememberedMax}`)).toBe(7)
})
