import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { askedBy } from '../../../src/actors/asked-by.ts'
import type { questionKinds } from '../../../src/asked/question-kinds.ts'
import type { Questions } from '../../../src/derived/questions/question.ts'
import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import { minuteMs } from '../../../src/domain/calendar.ts'
import { attentionStream } from '../../../src/domain/stream-names.ts'
import {
  changesIn,
  pass,
  readingsOf,
  startWatching,
  type WatchingService,
} from '../../support/attention/watched-racks.ts'
import { derivedHere } from '../../support/derived/derived-here.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { lateLog } from '../../support/logs/late-log.ts'
import { testAsker, testCellar } from '../../support/test-service.ts'
import { manualClock } from '../../support/time/manual-clock.ts'

setDefaultTimeout(600_000)

const open: WatchingService[] = []

afterEach(async () => {
  for (const node of open.splice(0)) await node.stop()
})

test('silence is found while ask.db is behind, and known lines of refusals stand', async () => {
  const log = await openFreshLog()
  const clock = manualClock()
  const refused: AttentionLine = { kind: 'key_refused', sinceMs: clock.now(), keyId: 'one', count: 10 }
  const record = {
    id: '01a2264f-0000-7000-8000-000000000000',
    type: 'AttentionChanged' as const,
    recordedAt: clock.now(),
    data: { cellar: testCellar, began: [refused], ended: [], now: [refused], more: 0 },
    metadata: askedBy(testAsker),
  }
  await log.append(attentionStream(testCellar), 'none', [record])
  const derived = derivedHere(log, { clock, passedMs: clock.passedMs })
  const questions: Questions<typeof questionKinds> = {
    ask: async (name, ...rest) =>
      name === 'refusalsOfCellar' ? { kind: 'not_ready' } : derived.questions.ask(name, ...rest),
    close: () => derived.questions.close(),
  }
  const node = await startWatching({ log, clock, derived, questions })
  open.push(node)
  const { key, keyId } = await node.createKey()
  let sent = 0
  const send = async (nowMs: number): Promise<void> => {
    if (nowMs % minuteMs !== 0 || sent === 30) return
    expect((await node.postBatch(readingsOf(['rack-1'], nowMs), key)).status).toBe(200)
    sent += 2
    await node.untilFolded(keyId, sent)
  }
  await pass([node], 30 * minuteMs, send)
  expect((await changesIn(log)).at(-1)?.now).toEqual(['silent rack-1', 'key_refused one'])
})

test('readings that arrive while a node looks do not hide that the look lagged', async () => {
  const log = await openFreshLog()
  const clock = manualClock()
  const first = await startWatching({ log, clock })
  open.push(first)
  const { key, keyId } = await first.createKey()
  let sent = 0
  const send = async (nowMs: number): Promise<void> => {
    if (nowMs % minuteMs !== 0) return
    expect((await first.postBatch(readingsOf(['rack-1'], nowMs), key)).status).toBe(200)
    sent += 2
    await first.untilFolded(keyId, sent)
  }
  await pass([first], 15 * minuteMs, send)
  const late = lateLog(log)
  const derived = derivedHere(late, { clock, passedMs: clock.passedMs })
  let looks = 0
  const questions: Questions<typeof questionKinds> = {
    ask: async (name, parameters, options) => {
      const answered = await derived.questions.ask(name, parameters, options)
      if (name === 'silentLines' && options.isAtOnce !== true) {
        looks += 1
        late.deliver()
      }
      return answered
    },
    close: () => derived.questions.close(),
  }
  const second = await startWatching({ log: late, clock, seed: 2, derived, questions })
  open.push(second)
  await pass([first, second], 20 * minuteMs, send)
  expect(looks).toBeGreaterThan(0)
  expect(await changesIn(log)).toEqual([])
})
