import type { Core } from '../../../src/actors/core.ts'
import type { AskProgress } from '../../../src/actors/search/ask-db.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'

/** Gives the core an index like `ask.db`, which always holds the whole log. Searches do not use the thread for questions. */
export const withAsk =
  (progress?: () => Partial<AskProgress>) =>
  (core: Core): Core => ({ ...core, ask: naiveAsk(core.log, progress), questions: null })
