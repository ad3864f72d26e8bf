import type { Derived } from '../../../src/actors/node.ts'
import type { Ask } from '../../../src/actors/search/ask-db.ts'
import { foldedEvent, inLog } from '../../../src/actors/stream/folded-event.ts'
import { askOfFile } from '../../../src/asked/ask-of-file.ts'
import { questionKinds } from '../../../src/asked/question-kinds.ts'
import { searchesIn } from '../../../src/asked/search-sources.ts'
import type { Clock } from '../../../src/clock.ts'
import { openKnownRevisions } from '../../../src/derived/ask/known-revisions.ts'
import { readSavedBeginning } from '../../../src/derived/beginning/saved-beginning.ts'
import { DerivedStore, type DerivedTold } from '../../../src/derived/derived-store.ts'
import { Follower, type FollowerParts } from '../../../src/derived/follower.ts'
import type { FollowerEvents, FollowerHandle } from '../../../src/derived/follower-messages.ts'
import { modelKindsFor } from '../../../src/derived/model-kinds.ts'
import { questionsHere } from '../../../src/derived/questions/asked-questions.ts'
import { ModelReaders } from '../../../src/derived/questions/model-readers.ts'
import { RepeatsReader } from '../../../src/derived/repeats/repeats-reader.ts'
import { messageOf } from '../../../src/domain/error-message.ts'
import type { EventLog, ReadBeginning } from '../../../src/log/event-log.ts'
import { type Schedule, systemSchedule } from '../../../src/schedule.ts'
import { passingLog } from '../logs/passing-log.ts'
import { type TemporaryFolder, temporaryFolder } from '../temporary-folder.ts'
import { until } from '../time/until.ts'
import { logSource } from './log-source.ts'

/** Follows without a thread. */
export const followHere =
  (parts: Omit<FollowerParts, 'tell'>) =>
  ({ onMessage, onFault }: FollowerEvents): FollowerHandle => {
    const follower = new Follower({ ...parts, tell: onMessage })
    const ended = follower.run().catch((bug: unknown) => onFault(messageOf(bug)))
    return {
      post: (message) => (message.kind === 'close' ? follower.close() : follower.receive(message)),
      close: () => {
        follower.close()
        return ended
      },
    }
  }

export type HereOptions = {
  readonly clock: Clock
  /** Default: a new folder. */
  readonly folder?: TemporaryFolder
  readonly logId?: string
  readonly schedule?: Schedule
  /** Says how long questions take. */
  readonly passedMs?: () => number
}

/** The derived store of a log of this process, without a thread. A test deletes the folder. */
export const derivedHere = (log: EventLog, { clock, ...options }: HereOptions) => {
  const { folder = temporaryFolder(), logId = 'a log', schedule = systemSchedule } = options
  const told: DerivedTold[] = []
  const kinds = modelKindsFor({ isShared: log.readBeginning === undefined })
  const times = { now: () => clock.now(), passedMs: () => performance.now() }
  const parts = { dataDir: folder.path, logId, copiedMs: null, kinds, source: logSource(log), ...times }
  const store = new DerivedStore({
    start: followHere(parts),
    isInLog: inLog(log),
    schedule,
    onTold: (one) => told.push(one),
  })
  const questions = questionsHere(
    {
      kinds: questionKinds,
      source: { dataDir: folder.path, eventStore: null, logId },
      store,
      reached: () => null,
      passedMs: options.passedMs ?? times.passedMs,
      onFault: (why) => told.push({ kind: 'crashed', why }),
    },
    (_, readers) => {
      const searches = searchesIn(
        { open: async () => ({ ...passingLog(log), close: () => {} }), lags: log.lags === true },
        readers,
      )
      // No search ends early on a slow machine.
      return { ...searches, open: (parts) => searches.open({ ...parts, passedMs: () => 0 }) }
    },
  )
  const repeats = new RepeatsReader(folder.path, store)
  const derived: Derived = { store, questions, repeats, known: () => openKnownRevisions(folder.path, logId) }
  const readers = new ModelReaders({ dataDir: folder.path, logId })
  /** Always has what the node has received. */
  const ask = (): Ask => ({
    ...askOfFile({ readers, progress: noTrouble, turn: async () => {}, onDamage: () => {} }),
    progress: async () => {
      await store.upTo('ask')
      return store.progress('ask')
    },
  })
  const readSaved: ReadBeginning = (onEvent) =>
    readSavedBeginning({ dataDir: folder.path, logId, find: (head) => foldedEvent(log, head) }, onEvent)
  const readBeginning = log.readBeginning?.bind(log) ?? readSaved
  const close = (): void => {
    repeats.close()
    readers.close()
    void questions.close()
  }
  return {
    ...derived,
    ask,
    readBeginning,
    folder,
    told,
    /** Waits until `ask.db` has all that the node has received. */
    whole: async (): Promise<void> => {
      await until(() => !store.progress('ask').isBehind)
      await store.upTo('ask')
    },
    /** Call it after the node has stopped. */
    close,
    remove: () => {
      close()
      folder.remove()
    },
  }
}

const noTrouble = { isBehind: false, trouble: null }

export type DerivedHere = ReturnType<typeof derivedHere>
