import type { Core } from '../../../src/actors/core-interface.ts'
import type { Ask } from '../../../src/actors/search/ask-db.ts'
import { questionsOfLog } from '../../../src/asked/questions-of-log.ts'
import type { ModelProgress } from '../../../src/derived/follower-messages.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'

/** Gives the core an index like `ask.db`, which always holds the whole log. No time passes in searches. Default of `harm`: none. */
export const withAsk =
  (progress: () => Partial<ModelProgress> = () => ({}), harm: (ask: Ask) => Partial<Ask> = () => ({})) =>
  (core: Core): Core => {
    const ask = naiveAsk(core.log, progress)
    return {
      ...core,
      indexProgress: () => ({ position: core.projections.position, isBehind: false, trouble: null, ...progress() }),
      questions: questionsOfLog(core.log, { ask: { ...ask, ...harm(ask) }, passedMs: () => 0 }),
    }
  }
