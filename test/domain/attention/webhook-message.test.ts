import { expect, test } from 'bun:test'
import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import { type MessageParts, messageBody } from '../../../src/domain/attention/webhook-message.ts'

/** When it was recorded. */
const time = '(1970-01-01 00:00:00 UTC)'
const line = (rack: string): AttentionLine => ({ kind: 'silent', sinceMs: 0, rack })
const backupOld: AttentionLine = { kind: 'backup_old', sinceMs: 0, node: 'one', seenMs: 1 }

const bodyOf = (began: readonly AttentionLine[], parts: Partial<MessageParts> = {}) => {
  const body = messageBody({
    recordedAt: 0,
    data: { cellar: 'gin', began: [...began], ended: [], more: 3 },
    kinds: [],
    isAtRest: () => false,
    wordsOf: ({ kind, rack }) => [kind, rack].join(' ').trim(),
    cellarTitle: 'Gin',
    ...parts,
  })
  return body === null ? null : JSON.parse(body)
}

test('messageBody() says ten lines, and lists all', () => {
  const racks = Array.from({ length: 12 }, (_, at) => line(String(at)))
  const { text, began, more } = bodyOf(racks).data
  const said = text.split('\n')
  expect([said.length, said[0], said[9], said[10]]).toEqual([
    11,
    'Gin: silent 0.',
    'Gin: silent 9.',
    `And 2 more. ${time}`,
  ])
  expect([began.length, more]).toEqual([12, 3])
  expect(bodyOf(racks.slice(0, 10)).data.text).not.toContain('more')
})

test('messageBody() names the node of a line, and hides what only nodes need', () => {
  const { text, began } = bodyOf([backupOld]).data
  expect(text).toBe(`Node one: backup_old. ${time}`)
  expect(began).toEqual([{ kind: 'backup_old', since: '1970-01-01T00:00:00.000Z', node: 'one', text: 'backup_old' }])
})

test('messageBody() takes no line for resolved that is part of another, or has parts left', () => {
  const ended = [{ ...line('a'), isPart: true as const }, { ...line('b'), hasParts: true as const }, line('c')]
  const { data } = bodyOf([], { data: { cellar: 'gin', began: [], ended, more: 0 } })
  expect(data.text).toBe(`Gin: silent a.\nGin: silent b.\nResolved: Gin: silent c. ${time}`)
  expect(data.ended).toMatchObject([{ isPart: true }, { hasParts: true }, { rack: 'c' }])
})

test('messageBody() shows hidden characters of a title', () => {
  expect(bodyOf([line('A')], { cellarTitle: 'Gin\u202e' }).data.text).toBe(`Gin[U+202E]: silent A. ${time}`)
})

test('messageBody() is null without a line of the kinds that is not at rest', () => {
  expect(bodyOf([])).toBe(null)
  expect(bodyOf([backupOld], { kinds: ['silent'] })).toBe(null)
  expect(bodyOf([backupOld], { isAtRest: () => true })).toBe(null)
})
