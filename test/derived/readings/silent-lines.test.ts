import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readingsKind } from '../../../src/derived/readings/readings-model.ts'
import { type SilenceWanted, silentLines } from '../../../src/derived/readings/silent-lines.ts'
import {
  type AttentionLine,
  type AttentionLines,
  changeOf,
  linesOf,
  noLines,
} from '../../../src/domain/attention/attention-lines.ts'
import { excusedSince } from '../../../src/domain/attention/excused-times.ts'
import type { SilenceRule } from '../../../src/domain/attention/silence-rules.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/domain/calendar.ts'
import { requestIds } from '../../../src/entropy.ts'
import { lineText } from '../../support/attention/watched-racks.ts'
import { answerOf } from '../../support/readings/asked-kegs.ts'
import { emptyReadings, flushReadings } from '../../support/readings/readings-history.ts'
import { type Sent, sentHistory } from '../../support/readings/sent-history.ts'
import { seededNumbers } from '../../support/seeded-entropy.ts'

setDefaultTimeout(600_000)

const startMs = Date.UTC(2026, 2, 2)

const modelOf = (sent: readonly Sent[]) => {
  const database = emptyReadings()
  const model = readingsKind.open(database)
  model.fold(sentHistory(sent))
  flushReadings(database, model, startMs)
  return { database, model }
}

const found = (database: ReturnType<typeof emptyReadings>, wanted: Partial<SilenceWanted>) =>
  answerOf(silentLines(database, { cellar: 'north', nowMs: startMs, rules: [], excused: [], standing: [], ...wanted }))

/** Each minute, from the start to the end. */
const eachMinute = (names: Partial<Sent>, minutes: number, fromMs = startMs): readonly Sent[] =>
  Array.from({ length: minutes }, (_, minute) => ({ ...names, atMs: fromMs + minute * minuteMs }))

const kegsOf = (racks: number, kegs: number) =>
  Array.from({ length: racks * kegs }, (_, at) => ({ rack: `rack-${Math.floor(at / kegs)}`, keg: `keg-${at % kegs}` }))

describe('silent lines', () => {
  const endMs = startMs + 19 * minuteMs

  test('name a keg once ten pauses have passed, and not a millisecond before', () => {
    const others = eachMinute({ keg: 'other' }, 40)
    const { database } = modelOf([...eachMinute({ keg: 'stopped' }, 20), ...others])
    const at = (nowMs: number) => found(database, { nowMs })
    expect(at(endMs + 10 * minuteMs)).toEqual({ lines: [], more: 0, gone: [], nextMs: endMs + 10 * minuteMs })
    expect(at(endMs + 10 * minuteMs + 1).lines).toEqual([
      { kind: 'silent', sinceMs: endMs, rack: 'rack', keg: 'stopped', afterMs: 10 * minuteMs },
    ])
  })

  test('name a rack, or the whole cellar, that stops together', () => {
    const nowMs = endMs + 10 * minuteMs + 1
    const kegs = kegsOf(20, 5)
    const stopped = kegs.flatMap((names) => eachMinute(names, 20))
    expect(found(modelOf(stopped).database, { nowMs }).lines).toEqual([
      { kind: 'silent', sinceMs: endMs, count: 100, afterMs: 10 * minuteMs },
    ])
    const alive = eachMinute({ rack: 'rack-7', keg: 'keg-3' }, 30)
    const lines = found(modelOf([...stopped, ...alive]).database, { nowMs }).lines.map(lineText)
    expect(lines.length).toBe(19 + 4)
    expect(lines).toContain('silent rack-7/keg-0')
    expect(lines).toContain('silent rack-8')
    expect(lines).not.toContain('silent rack-7')
  })

  test('of 10,000 kegs that stop together are one line, and have room for 100', () => {
    const stopped = kegsOf(1_000, 10).flatMap((names) => eachMinute(names, 3))
    const nowMs = startMs + 2 * minuteMs + 10 * minuteMs + 1
    const { database } = modelOf(stopped)
    expect(found(database, { nowMs }).lines).toMatchObject([{ count: 10_000 }])
    const alive = eachMinute({ rack: 'rack-7', keg: 'keg-3' }, 12)
    const many = found(modelOf([...stopped, ...alive]).database, { nowMs })
    expect([many.lines.length, many.more]).toEqual([100, 100])
  })

  test('come newest first, so that a new silence has room beside hundreds', () => {
    const old = kegsOf(300, 2).flatMap((names, at) => eachMinute(names, at === 0 ? 60 : 20 - (at % 7)))
    const { database } = modelOf([...old, ...eachMinute({ rack: 'new', keg: 'a' }, 40)])
    const nowMs = startMs + 49 * minuteMs + 1
    const before = found(database, { nowMs: nowMs - 1 })
    const known = linesOf(before.lines, before.more, noLines)
    const after = found(database, { nowMs, standing: known.now })
    const change = changeOf(known, linesOf(after.lines, after.more, known))
    expect(before.more).toBeGreaterThan(0)
    expect(change?.began.map(lineText)).toEqual(['silent new'])
    expect(change?.ended).toEqual([])
  })

  test('tell a keg that a shorter rule makes silent, beside hundreds', () => {
    const old = kegsOf(300, 2).flatMap((names, at) => eachMinute(names, at === 0 ? 90 : 20 - (at % 7)))
    const daily = [0, 1].map((day) => ({ rack: 'daily', keg: 'a', atMs: startMs - (1 - day) * dayMs }))
    const { database } = modelOf([...daily, ...old])
    const nowMs = startMs + 60 * minuteMs
    const before = found(database, { nowMs })
    const known = linesOf(before.lines, before.more, noLines)
    const rules = [{ rack: 'daily', keg: null, after: minuteMs, setMs: nowMs }]
    const after = found(database, { nowMs: nowMs + 1, rules, standing: known.now })
    expect(before.more).toBeGreaterThan(0)
    const change = changeOf(known, linesOf(after.lines, after.more, known))
    expect(change?.began.map(lineText)).toEqual(['silent daily'])
  })

  test('are the same on a node that has seen the kegs in another order', () => {
    const stopped = kegsOf(300, 1)
    const alive = eachMinute({ rack: 'alive', keg: 'a' }, 40)
    const nodes = [stopped, stopped.toReversed()].map((kegs) => {
      const each = Array.from({ length: 3 }, (_, minute) =>
        kegs.map((names) => ({ ...names, atMs: startMs + minute * minuteMs })),
      )
      return modelOf([...each.flat(), ...alive]).database
    })
    const nowMs = startMs + 30 * minuteMs
    let known: AttentionLines = noLines
    const changes = [...nodes, ...nodes].map((database) => {
      const { lines, more } = found(database, { nowMs, standing: known.now })
      const next = linesOf(lines, more, known)
      const change = changeOf(known, next)
      known = next
      return change
    })
    expect(changes.map((change) => change !== null)).toEqual([true, false, false, false])
  })

  test('give way after every 500 kegs of a silent rack', () => {
    const stopped = kegsOf(1, 1_500).map((names) => ({ ...names, atMs: startMs }))
    const nowMs = startMs + 22 * minuteMs
    const { database } = modelOf([...stopped, { rack: 'alive', keg: 'a', atMs: nowMs - minuteMs }])
    const rules = [{ rack: null, keg: null, after: 10 * minuteMs }]
    const standing: readonly AttentionLine[] = [{ kind: 'silent', sinceMs: startMs, rack: 'rack-0' }]
    const steps = [...silentLines(database, { cellar: 'north', rules, excused: [], nowMs, standing })]
    // Of the recorded line, to judge the rack, and to take out its kegs.
    expect(steps.length).toBeGreaterThanOrEqual((3 * 1_500) / 500)
  })

  test('do not take a late keg beside a silent one for a silent rack', () => {
    const silent = eachMinute({ keg: 'a' }, 20)
    const late = eachMinute({ keg: 'b' }, 60)
    const nowMs = startMs + 59 * minuteMs + 6 * minuteMs
    const { database } = modelOf([...silent, ...late])
    const standing: readonly AttentionLine[] = [{ kind: 'silent', sinceMs: endMs, rack: 'rack', keg: 'a' }]
    for (const known of [standing, []])
      expect(found(database, { nowMs, standing: known }).lines.map(lineText)).toEqual(['silent rack/a'])
    const both = found(database, { nowMs: nowMs + 5 * minuteMs, standing })
    expect(both.lines.map(lineText)).toEqual(['silent rack'])
  })

  test('name no cellar because another rack is late that sent after the silence began', () => {
    const silent = eachMinute({ rack: 'silent' }, 20)
    const late = eachMinute({ rack: 'late' }, 49)
    const excused = [[endMs, startMs + 45 * minuteMs]] as const
    const { database } = modelOf([...silent, ...late])
    const nowMs = startMs + 56 * minuteMs
    expect(found(database, { nowMs, excused }).lines.map(lineText)).toEqual(['silent silent'])
  })

  test('say which recorded lines have no readings left', () => {
    const { database } = modelOf(eachMinute({ rack: 'rack', keg: 'a' }, 20))
    const of = (names: Partial<AttentionLine>): AttentionLine => ({ kind: 'silent', sinceMs: endMs, ...names })
    const left = [of({ rack: 'rack', keg: 'a' }), of({ rack: 'rack' })]
    const gone = [of({ rack: 'rack', keg: 'b' }), of({ rack: 'other' })]
    expect(found(database, { standing: [...left, ...gone, { kind: 'keys_unused', sinceMs: 1 }] }).gone).toEqual(gone)
    expect(found(database, { standing: [of({})] }).gone).toEqual([])
    expect(found(database, { cellar: 'empty', standing: [of({})] }).gone).toEqual([of({})])
  })

  test('name no rack because another keg is late that stopped with a recorded one', () => {
    const { database } = modelOf(['a', 'b'].flatMap((keg) => eachMinute({ keg }, 20)))
    const rules = [{ rack: 'rack', keg: 'b', after: 60 * minuteMs }]
    const standing: readonly AttentionLine[] = [{ kind: 'silent', sinceMs: endMs, rack: 'rack', keg: 'a' }]
    const at = (minutes: number) =>
      found(database, { nowMs: endMs + minutes * minuteMs, rules, standing }).lines.map(lineText)
    expect(at(59)).toEqual(['silent rack/a'])
    expect(at(61)).toEqual(['silent rack'])
  })

  test('begin later by excused time, which ends no silence that is recorded', () => {
    const { database } = modelOf([...eachMinute({ keg: 'a' }, 20), ...eachMinute({ keg: 'b' }, 40)])
    const nowMs = endMs + 11 * minuteMs
    const excused = [[endMs + minuteMs, endMs + 3 * minuteMs]] as const
    expect(found(database, { nowMs, excused })).toMatchObject({ lines: [], nextMs: endMs + 12 * minuteMs })
    const standing: readonly AttentionLine[] = [{ kind: 'silent', sinceMs: endMs, rack: 'rack', keg: 'a' }]
    expect(found(database, { nowMs, excused, standing }).lines.map(lineText)).toEqual(['silent rack/a'])
  })

  test('keep a silent rack one line on a node that excuses the time', () => {
    const nowMs = endMs + 11 * minuteMs
    const excused = [[endMs + minuteMs, nowMs]] as const
    const kept = (kegs: readonly Partial<Sent>[], line: AttentionLine) => {
      const { database } = modelOf(kegs.flatMap((names) => eachMinute(names, 20)))
      expect(found(database, { nowMs, excused, standing: [line] }).lines.map(lineText)).toEqual([lineText(line)])
    }
    kept(kegsOf(1, 3), { kind: 'silent', sinceMs: endMs, rack: 'rack-0', count: 3 })
    kept(kegsOf(2, 3), { kind: 'silent', sinceMs: endMs, count: 6 })
  })

  test('come in time after a clock was ten hours ahead', () => {
    const setBackMs = startMs + 22 * minuteMs
    const idAt = requestIds((count) => new Uint8Array(count))
    const standsStill = (sent: Sent) => ({ ...sent, acceptedMs: aheadMs + minuteMs, requestId: idAt(sent.atMs) })
    const aheadMs = startMs + 20 * minuteMs + 10 * hourMs
    const sent = ['one key', 'another key'].flatMap((keg) => {
      const back = eachMinute({ keg }, 3, setBackMs)
      const ahead = eachMinute({ keg }, 2, aheadMs)
      return [...eachMinute({ keg }, 20), ...ahead, ...(keg === 'one key' ? back.map(standsStill) : back)]
    })
    const { database } = modelOf([...sent, ...eachMinute({ keg: 'other' }, 40)])
    const lastMs = setBackMs + 2 * minuteMs
    expect(found(database, { nowMs: lastMs + 10 * minuteMs }).lines).toEqual([])
    expect(found(database, { nowMs: lastMs + 10 * minuteMs + 1 }).lines).toMatchObject([
      { keg: 'one key', sinceMs: lastMs, afterMs: 10 * minuteMs },
      { keg: 'another key', sinceMs: lastMs, afterMs: 10 * minuteMs },
    ])
  })

  test('follow the rule of the keg, its name, its rack or its cellar', () => {
    const kegs = ['rack-1', 'rack-2'].flatMap((rack) => ['a', 'b'].map((keg) => ({ rack, keg })))
    const { database } = modelOf([...kegs, { rack: 'rack-3', keg: 'c' }].flatMap((names) => eachMinute(names, 20)))
    const rules: SilenceRule[] = []
    const silent = (afterMinutes: number, rule: SilenceRule) => {
      rules.push(rule)
      return found(database, { rules, nowMs: endMs + afterMinutes * minuteMs + 1 }).lines.map(lineText)
    }
    expect(silent(10, { rack: null, keg: null, after: 30 * minuteMs })).toEqual([])
    expect(silent(3, { rack: 'rack-1', keg: null, after: 3 * minuteMs })).toEqual(['silent rack-1'])
    expect(silent(2, { rack: null, keg: 'a', after: 2 * minuteMs })).toEqual(['silent rack-1', 'silent rack-2/a'])
    expect(silent(2, { rack: 'rack-1', keg: 'a', after: 'never' })).toEqual(['silent rack-2/a'])
  })
})

describe('a week of devices', () => {
  const weekMs = 7 * dayMs
  const next = seededNumbers(45)
  const chance = (): number => (next() % 1_000_003) / 1_000_003
  const exponential = (meanMs: number): number => -meanMs * Math.log(1 - chance())
  /** The service starts again, and the store is away for an hour. */
  const downs = [
    [startMs + dayMs, startMs + dayMs + 3 * minuteMs],
    [startMs + 3 * dayMs, startMs + 3 * dayMs + hourMs],
  ] as const
  const excused = downs.map(([fromMs, toMs]) => [fromMs, toMs + minuteMs] as const)

  const sentBy = (keg: string, pause: () => number, clockOf = (atMs: number) => atMs): readonly Sent[] => {
    const sent: Sent[] = []
    for (let atMs = startMs + pause(); atMs < startMs + weekMs; atMs += pause()) {
      const down = downs.find(([fromMs, toMs]) => atMs >= fromMs && atMs < toMs)
      // A device tries again every half minute.
      if (down !== undefined) atMs = down[1] + chance() * 30_000
      const acceptedMs = Math.round(atMs)
      sent.push({ rack: keg, keg, acceptedMs, atMs: clockOf(acceptedMs) })
    }
    return sent
  }

  let burst = 0
  const devices: Readonly<Record<string, readonly Sent[]>> = {
    'each minute': sentBy('each minute', () => minuteMs),
    'each second': sentBy('each second', () => 20_000 + chance() * 1_000),
    'each hour in one batch': sentBy('each hour in one batch', () => hourMs + (chance() - 0.5) * 5 * minuteMs),
    'each hour in five batches': sentBy('each hour in five batches', () => (++burst % 5 === 0 ? hourMs : 2_000)),
    'each day': sentBy('each day', () => dayMs + (chance() - 0.5) * hourMs),
    'by chance': sentBy('by chance', () => 30_000 + exponential(5 * minuteMs)),
    'a clock that jumps': sentBy(
      'a clock that jumps',
      () => minuteMs,
      (atMs) => atMs + (Math.floor((atMs - startMs) / (7 * hourMs)) % 3) * 2 * hourMs - 2 * hourMs,
    ),
    'a day late': sentBy(
      'a day late',
      () => 2 * minuteMs,
      (atMs) => atMs - (Math.floor((atMs - startMs) / (5 * hourMs)) % 2) * dayMs,
    ),
  }

  /** Looks as a node does, and returns when each line began and ended. */
  const watch = (sent: readonly Sent[]) => {
    const database = emptyReadings()
    const model = readingsKind.open(database)
    const items = sentHistory(sent.toSorted((a, b) => (a.acceptedMs ?? 0) - (b.acceptedMs ?? 0)))
    const told: string[] = []
    let known: AttentionLines = noLines
    let at = 0
    // Before its second burst, a device seems to send every two seconds.
    for (let nowMs = startMs + 1.5 * hourMs; nowMs < startMs + weekMs; nowMs += 5 * minuteMs) {
      if (downs.some(([fromMs, toMs]) => nowMs >= fromMs && nowMs < toMs)) continue
      const from = at
      while (at < items.length && (items[at]?.recordedAt ?? 0) <= nowMs) at += 1
      model.fold(items.slice(from, at))
      flushReadings(database, model, nowMs)
      const past = excused.map(([fromMs, toMs]) => [fromMs, Math.min(toMs, nowMs)] as const)
      const wanted = { nowMs, excused: past.filter(([fromMs, toMs]) => fromMs < toMs), standing: known.now }
      const { lines, more } = found(database, wanted)
      const following = linesOf(lines, more, known)
      const change = changeOf(known, following)
      for (const line of change?.began ?? []) told.push(`began ${lineText(line)}`)
      for (const line of change?.ended ?? []) told.push(`ended ${lineText(line)}`)
      known = following
    }
    return told
  }

  test('has no false alarm', () => {
    expect(watch(Object.values(devices).flat())).toEqual([])
  })

  test('tells of the one device that stops for half a day, and of nothing else', () => {
    const stopMs = startMs + 4 * dayMs
    const isSent = ({ acceptedMs = 0 }: Sent) => acceptedMs < stopMs || acceptedMs > stopMs + dayMs / 2
    const sent = Object.entries(devices).flatMap(([name, all]) => (name === 'each minute' ? all.filter(isSent) : all))
    expect(watch(sent)).toEqual(['began silent each minute', 'ended silent each minute'])
  })

  test('excuses nothing twice', () => {
    expect(excusedSince(excused, startMs)).toBe(3 * minuteMs + hourMs + 2 * minuteMs)
    expect(excusedSince(excused, startMs + 3 * dayMs + 30 * minuteMs)).toBe(31 * minuteMs)
    expect(excusedSince(excused, startMs + 4 * dayMs)).toBe(0)
  })
})
