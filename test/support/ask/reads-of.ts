import type { SearchReads } from '../../../src/derived/questions/question.ts'
import { keyStream } from '../../../src/domain/stream-names.ts'

/** Reads of this log, as the thread for questions gives them to a search. Default: no time passes. */
export const readsOf = ({
  log,
  ask,
  ...more
}: Pick<SearchReads, 'log' | 'ask'> & Partial<SearchReads>): SearchReads => ({
  log,
  ask,
  cellarOfKey: async (keyId) => {
    const [created] = await log.read(keyStream(keyId), { limit: 1 })
    return created?.type === 'KeyCreated' ? created.data.cellar : null
  },
  isPatient: false,
  passedMs: () => 0,
  ...more,
})
