import { describe, expect, test } from 'bun:test'
import type { AttentionLine } from '../../../src/domain/attention/attention-lines.ts'
import { FlappingLines } from '../../../src/domain/attention/flapping-lines.ts'
import { hourMs, minuteMs } from '../../../src/domain/calendar.ts'

const nowMs = Date.UTC(2026, 5, 1, 12, 30)
const silent = (rack: string, keg?: string): AttentionLine => ({
  ...{ kind: 'silent', sinceMs: nowMs, rack },
  ...(keg !== undefined && { keg }),
})

describe('a line that began five times in a day', () => {
  const flapping = (began: number, everyMs: number): FlappingLines => {
    const all = new FlappingLines()
    for (let at = 0; at < began; at += 1) expect(all.hear(at, nowMs + at * everyMs, [silent('r')])).toBe(true)
    expect(all.hear(began - 1, nowMs, [silent('r')])).toBe(false)
    return all
  }
  const known = { now: [silent('r')], more: 0 }

  test('stands until its cause was away for an hour', () => {
    const all = flapping(5, hourMs)
    const at = (ms: number, ...found: AttentionLine[]) => all.look(found, known, nowMs + 5 * hourMs + ms)
    expect(at(0)).toEqual([silent('r')])
    expect(at(minuteMs, silent('r'))).toEqual([])
    expect(at(2 * minuteMs)).toEqual([silent('r')])
    expect(at(hourMs + 2 * minuteMs - 1)).toEqual([silent('r')])
    expect(at(hourMs + 2 * minuteMs)).toEqual([])
  })

  test('ends at once if it began less often, or earlier', () => {
    expect(flapping(4, hourMs).look([], known, nowMs + 5 * hourMs)).toEqual([])
    expect(flapping(5, 5 * hourMs).look([], known, nowMs + 24 * hourMs)).toEqual([])
  })

  test('ends when a part of it begins, which is told', () => {
    const all = flapping(5, hourMs)
    const part = silent('r', 'k')
    expect(all.look([part], known, nowMs + 5 * hourMs)).toEqual([])
    expect(all.look([], known, nowMs + 5 * hourMs + 1)).toEqual([silent('r')])
    expect(all.look([part], known, nowMs + 5 * hourMs + 2)).toEqual([])
  })

  test('is forgotten behind two hundred others', () => {
    const all = flapping(5, hourMs)
    for (let at = 0; at < 200; at += 1) all.hear(5 + at, nowMs, [silent(`other-${at}`)])
    expect(all.look([], known, nowMs + 5 * hourMs)).toEqual([])
  })
})
