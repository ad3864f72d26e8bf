import { describe, expect, test } from 'bun:test'
import { questionsOfLog } from '../../src/asked/questions-of-log.ts'
import { followLog } from '../../src/cli/control/read-log.ts'
import type { RecordedEvent } from '../../src/domain/events.ts'
import { wholeLog } from '../../src/domain/search/event-filter.ts'
import { logReadPageEvents } from '../../src/limits.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { slowLog } from '../support/logs/passing-log.ts'
import { keySuspensions } from '../support/logs/sample-events.ts'

const reading = (log: EventLog) => ({ questions: questionsOfLog(log), signal: new AbortController().signal })
const once = async (): Promise<boolean> => false

describe('followLog()', () => {
  test('ends at the last event of its start, even if events follow quickly', async () => {
    const log = createMemoryLog()
    await log.append('key-a', 'none', keySuspensions(logReadPageEvents * 2))
    let read = 0
    for await (const { position } of followLog(reading(slowLog(log)), wholeLog, once)) {
      read += 1
      expect(position).toBe(read)
      await log.append(`key-b${read}`, 'none', keySuspensions(1))
    }
    expect(read).toBe(logReadPageEvents * 2)
  })

  test('outlasts a question that nobody answers', async () => {
    const log = createMemoryLog()
    await log.append('key-a', 'none', keySuspensions(1))
    const { questions, signal } = reading(log)
    let asked = 0
    const ask: typeof questions.ask = async (...question) => {
      asked += 1
      return asked === 1 ? { kind: 'not_now' } : questions.ask(...question)
    }
    const followed = followLog({ questions: { ...questions, ask }, signal }, wholeLog, once)
    expect((await followed.next()).value).toMatchObject({ stream: 'key-a' })
  })

  test('goes on with new events after each pause, each once', async () => {
    const log = createMemoryLog()
    let pauses = 0
    const pause = async (): Promise<boolean> => {
      pauses += 1
      if (pauses % 2 === 0) await log.append(`key-${pauses}`, 'none', keySuspensions(3))
      return pauses < 8
    }
    const events: RecordedEvent[] = []
    const followed = followLog(reading(log), { ...wholeLog, type: 'KeySuspended' }, pause)
    let last: number | null = null
    for (let step = await followed.next(); ; step = await followed.next()) {
      if (step.done) {
        last = step.value
        break
      }
      events.push(step.value)
    }
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(last).toBe(9)
  })
})
