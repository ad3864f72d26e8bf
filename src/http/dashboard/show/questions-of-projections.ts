/** Answers from the projections until the model of readings takes their place. */
import type { Core } from '../../../actors/core.ts'
import type { AskOptions, Questions } from '../../../derived/questions/question.ts'
import type { questionKinds } from '../../../derived/questions/question-kinds.ts'
import type { KegsWanted } from '../../../derived/readings/readings-questions.ts'
import { pageOf } from './paging.ts'
import { runWithPauses, waitForTurn } from './pauses.ts'

export const questionsOfProjections = (core: Core): Questions<typeof questionKinds> =>
  ({
    ask: async (_name: string, { cellar, words, page, perPage }: KegsWanted, { signal }: AskOptions = {}) => {
      const { readings } = core.projections
      const { found, all } = await runWithPauses(readings.findKegs(cellar, words), waitForTurn)
      if (signal?.aborted === true) return { kind: 'not_now' }
      const { shown, ...place } = pageOf(found, page, perPage)
      const kegs = readings
        .kegs(cellar, shown)
        .map((keg) => ({ ...keg, acceptedMs: keg.latest.recordedAt, pauseMs: null }))
      const recent = readings.latest(cellar)
      const answer = { kegs: { kegs, ...place, found: found.length, all }, recent }
      return { kind: 'answered', answer, asOf: null, isBehind: false }
    },
    close: async () => {},
  }) as unknown as Questions<typeof questionKinds>
