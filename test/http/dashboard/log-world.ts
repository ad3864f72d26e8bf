import type { AskProgress, Core } from '../../../src/actors/core.ts'
import { naiveAsk } from '../../support/ask/naive-ask.ts'

/** Gives the core an index like `ask.db`, which always holds the whole log. */
export const withAsk =
  (progress?: () => Partial<AskProgress>) =>
  (core: Core): Core => ({ ...core, ask: naiveAsk(core.log, progress) })
