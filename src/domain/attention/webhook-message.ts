/** The body of a message to a webhook (docs/protocol.md, "Webhooks"). */
import { plainName } from '../../hidden-characters.ts'
import { instantText, secondText } from '../calendar.ts'
import type { EventData } from '../events.ts'
import type { AttentionKind, AttentionLine } from './attention-lines.ts'

/** Lines whose words `text` has. */
const linesSaidMax = 10

export type MessageParts = {
  readonly recordedAt: number
  readonly data: Pick<EventData<'AttentionChanged'>, 'cellar' | 'began' | 'ended' | 'more'>
  /** Empty: all. */
  readonly kinds: readonly AttentionKind[]
  /** Such a line is not told when it begins. Its end is: its beginning can have been told before the rest. */
  readonly isAtRest: (line: AttentionLine) => boolean
  /** Without a full stop. */
  readonly wordsOf: (line: AttentionLine) => string
  readonly cellarTitle: string
}

/** `null`: nothing that the webhook is told of. */
export const messageBody = (parts: MessageParts): string | null => {
  const { recordedAt, data, kinds, isAtRest, wordsOf, cellarTitle } = parts
  const isWanted = ({ kind }: AttentionLine): boolean => kinds.length === 0 || kinds.includes(kind)
  const began = data.began.filter((line) => isWanted(line) && !isAtRest(line))
  const ended = data.ended.filter(isWanted)
  if (began.length + ended.length === 0) return null
  const said = [
    ...began.map((line) => `${placeOf(line, cellarTitle)}: ${wordsOf(line)}.`),
    ...ended.map((line) => `${isResolved(line) ? 'Resolved: ' : ''}${placeOf(line, cellarTitle)}: ${wordsOf(line)}.`),
  ]
  const others = said.length - linesSaidMax
  const lines = [...said.slice(0, linesSaidMax), ...(others > 0 ? [`And ${others} more.`] : [])].join('\n')
  // A message that failed can arrive after a newer one.
  const text = `${lines} (${secondText(recordedAt).replace('T', ' ').replace('Z', ' UTC')})`
  const lineOf = (line: AttentionLine) => ({ ...factsOf(line), text: wordsOf(line) })
  return JSON.stringify({
    type: 'attention.changed',
    timestamp: instantText(recordedAt),
    data: { cellar: data.cellar, text, began: began.map(lineOf), ended: ended.map(lineOf), more: data.more },
  })
}

export const testBody = (nowMs: number): string =>
  JSON.stringify({
    type: 'cellarbook.test',
    timestamp: instantText(nowMs),
    data: { text: 'This is a test from Cellarbook. Nothing needs attention.' },
  })

const isResolved = ({ isPart, hasParts }: AttentionLine): boolean => isPart !== true && hasParts !== true

const placeOf = ({ node }: AttentionLine, cellarTitle: string): string =>
  plainName(node === undefined ? cellarTitle : `Node ${node}`)

const factsOf = ({ kind, sinceMs, rack, keg, keyId, node, count, dueMs, isPart, hasParts }: AttentionLine) => ({
  kind,
  since: instantText(sinceMs),
  rack,
  keg,
  key: keyId,
  node,
  count,
  due: dueMs === undefined ? undefined : instantText(dueMs),
  isPart,
  hasParts,
})
