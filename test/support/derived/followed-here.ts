import type { Database } from 'bun:sqlite'
import { Follower } from '../../../src/derived/follower.ts'
import type { FromFollower, InLog, ModelProgress } from '../../../src/derived/follower-messages.ts'
import type { Model, ModelKind } from '../../../src/derived/model.ts'
import type { FoldedTo } from '../../../src/domain/log-reference.ts'
import { type LogItem, lastPositionOf } from '../../../src/domain/reading/recorded-run.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import type { Source } from '../../../src/log/source.ts'
import { until } from '../time/until.ts'
import { logSource } from './log-source.ts'

/** Faults that a test gives a model. */
export type Harm = {
  /** Called before each item is folded. */
  onFold?: (item: LogItem) => void
  /** Called in each step of a flush. */
  onStep?: (database: Database) => void
  /** Called when the file is opened. */
  onOpen?: (database: Database) => void
}

/** Keeps the position of each item. One step of a flush writes one row. */
export const positionsModel = (name: string, harm: Harm = {}): ModelKind => ({
  name,
  format: 1,
  tables: 'CREATE TABLE positions (position INTEGER NOT NULL, filler TEXT NOT NULL) STRICT;',
  flushEveryMs: 1_000,
  open: (database): Model => {
    harm.onOpen?.(database)
    const insert = database.prepare<unknown, [number, string]>('INSERT INTO positions VALUES (?, ?)')
    let positions: readonly number[] = []
    return {
      get pending() {
        return positions.length
      },
      fold: (items) => {
        for (const item of items) harm.onFold?.(item)
        positions = [...positions, ...items.map(lastPositionOf)]
      },
      flush: function* () {
        for (const position of positions) {
          insert.run(position, 'filler '.repeat(50))
          harm.onStep?.(database)
          yield
        }
        positions = []
      },
    }
  },
})

export type FollowedHere = ReturnType<typeof followedHere>

type Options = {
  readonly dataDir: string
  readonly kinds: readonly ModelKind[]
  readonly source?: Source
  readonly logId?: string
  readonly copiedMs?: number | null
  /** Default: the log has each head. */
  readonly isInLog?: (head: FoldedTo) => InLog
}

/** A follower whose time stands still. */
export const followedHere = (
  log: EventLog,
  { dataDir, kinds, logId = 'a log', copiedMs = null, ...options }: Options,
) => {
  const { source = logSource(log, 10), isInLog = () => true } = options
  const told: FromFollower[] = []
  let nowMs = 0
  let ids = 0
  const progress = new Map<string, ModelProgress>()
  const tell = (message: FromFollower): void => {
    told.push(message)
    if (message.kind === 'progress') progress.set(message.model, message.progress)
    if (message.kind !== 'isInLog') return
    const is = isInLog(message.head)
    queueMicrotask(() => follower.receive({ kind: 'inLog', model: message.model, is }))
  }
  const times = { now: () => nowMs, passedMs: () => nowMs }
  const follower: Follower = new Follower({ dataDir, logId, copiedMs, kinds, source, tell, ...times })
  const ended = follower.run()
  const upTo = async (model: string, position: number): Promise<void> => {
    ids += 1
    const id = ids
    follower.receive({ kind: 'upTo', id, model, position })
    await until(() => told.some((message) => message.kind === 'reached' && message.id === id))
  }
  return {
    follower,
    told,
    progress: (model: string) => progress.get(model),
    upTo,
    /** Waits until the models have all that the log has. */
    whole: async (...models: readonly string[]): Promise<void> => {
      const [last] = await log.readAll({ direction: 'backwards', limit: 1 })
      const position = last?.position ?? -1
      for (const model of models) {
        await until(() => {
          follower.receive({ kind: 'upTo', id: 0, model, position })
          return progress.get(model)?.position === position && progress.get(model)?.isBehind === false
        })
      }
    },
    pass: (ms: number): void => {
      nowMs += ms
      follower.receive({ kind: 'published', position: -1 })
    },
    end: (): Promise<void> => {
      follower.close()
      return ended
    },
  }
}
