import type { CellarReadings, questionKinds } from '../../../src/asked/question-kinds.ts'
import type { Questions } from '../../../src/derived/questions/question.ts'
import type { KegsWanted } from '../../../src/derived/readings/readings-questions.ts'

/** Answers at once, without a model. */
export const readingsAnswers = (answer: (wanted: KegsWanted) => CellarReadings): Questions<typeof questionKinds> => {
  const ask = async (_name: string, wanted: KegsWanted) => ({
    kind: 'answered' as const,
    answer: answer(wanted),
    asOf: null,
    isBehind: false,
  })
  return { ask: ask as Questions<typeof questionKinds>['ask'], close: async () => {} }
}
