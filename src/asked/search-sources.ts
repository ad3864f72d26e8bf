import type { LogReads } from '../actors/search/patient-reads.ts'
import type { ModelReaders } from '../derived/questions/model-readers.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import type { SearchParts } from '../derived/questions/question-turns.ts'
import type { SearchSources } from '../derived/questions/serve-questions.ts'
import { BoundedMap } from '../domain/bounded-map.ts'
import { messageOf } from '../domain/error-message.ts'
import { keyStream } from '../domain/stream-names.ts'
import { logReadMs, searchedKeysMax } from '../limits.ts'
import { Outage, type Reached } from '../log/event-log.ts'
import { type OpenReads, openReads } from '../log/open-source.ts'
import { askOfFile } from './ask-of-file.ts'

/** The connection to the log is opened when the first search needs it. */
export const openSearches: SearchSources = (source, readers) =>
  searchesIn({ open: (reached) => openReads(source, reached), lags: source.eventStore !== null }, readers)

type SearchedLog = {
  readonly open: (reached: () => Reached | null) => Promise<OpenReads>
  readonly lags: boolean
}

export const searchesIn = ({ open: openLog, lags }: SearchedLog, readers: ModelReaders): ReturnType<SearchSources> => {
  let reached: Reached | null = null
  let opened: Promise<OpenReads> | null = null
  const reads = (): Promise<OpenReads> => {
    opened ??= openLog(() => reached).catch((cause: unknown) => {
      opened = null
      if (cause instanceof Outage) throw cause
      throw new Outage(`Cannot read the log: ${messageOf(cause)}`, 'not_written', 'unavailable', { cause })
    })
    return opened
  }
  const readsOf = inTurns(reads, lags)
  return {
    open: (parts) => {
      reached = parts.reached
      const searched = readsOf(parts)
      return { ...searched, ask: askOfFile({ ...parts, readers }) }
    },
    close: async () => {
      const last = await opened?.catch(() => null)
      await last?.close()
    },
  }
}

type OfQuestion = Pick<SearchParts, 'turn' | 'isPatient' | 'passedMs'>

/** A page waits for one read for `logReadMs` at most. */
export const inTurns = (reads: () => Promise<LogReads>, lags: boolean) => {
  const cellars = new BoundedMap<string, string>(searchedKeysMax)
  return ({ turn, isPatient, passedMs }: OfQuestion): Omit<SearchReads, 'ask'> => {
    const log: LogReads = {
      lags,
      read: async (stream, options) => {
        await turn()
        return (await reads()).read(stream, options)
      },
      readAll: async (options) => {
        await turn()
        return (await reads()).readAll(isPatient ? options : { ...options, msMax: logReadMs })
      },
    }
    return { log, cellarOfKey: (keyId) => cellarOf(log, cellars, keyId), isPatient, passedMs }
  }
}

/** A key never changes its cellar. */
const cellarOf = async (log: LogReads, known: BoundedMap<string, string>, keyId: string): Promise<string | null> => {
  const cellar = known.get(keyId)
  if (cellar !== undefined) return cellar
  const [created] = await log.read(keyStream(keyId), { limit: 1 })
  if (created?.type !== 'KeyCreated') return null
  known.set(keyId, created.data.cellar)
  return created.data.cellar
}
