import type { Ask } from '../actors/search/ask-db.ts'
import type { LogReads } from '../actors/search/patient-reads.ts'
import { questionsHere } from '../derived/questions/asked-questions.ts'
import type { Questions } from '../derived/questions/question.ts'
import { questionKinds } from './question-kinds.ts'
import { inTurns } from './search-sources.ts'

type Options = { readonly ask?: Ask | null; readonly passedMs?: () => number }

/** On the thread of the caller: for a command that no running service performs. */
export const questionsOfLog = (
  log: LogReads,
  { ask = null, passedMs = () => performance.now() }: Options = {},
): Questions<typeof questionKinds> => {
  const readsOf = inTurns(async () => log, log.lags === true)
  const parts = {
    kinds: questionKinds,
    source: { dataDir: '', eventStore: null, logId: '' },
    store: noModels,
    reached: () => null,
    passedMs,
    onFault: () => {},
  }
  return questionsHere(parts, () => ({
    open: (parts) => ({ ...readsOf({ ...parts, passedMs }), ask }),
    close: async () => {},
  }))
}

const noModels = {
  upTo: async () => true,
  progress: () => ({ position: null, isBehind: true, trouble: null }),
  opening: () => null,
  rebuild: () => {},
}
