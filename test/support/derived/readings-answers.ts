import type { CellarReadings, questionKinds } from '../../../src/asked/question-kinds.ts'
import type { AskOptions, Questions } from '../../../src/derived/questions/question.ts'
import type { KegsWanted } from '../../../src/derived/readings/shown-kegs.ts'

type Asked = Questions<typeof questionKinds>

/** Answers questions for the readings of a cellar at once, without a model. `others` answer the other questions. */
export const readingsAnswers = (
  answer: (wanted: KegsWanted) => CellarReadings,
  others: Asked,
  tookMs = (): number => 0,
): Asked => {
  const ask = async (name: string, wanted: KegsWanted, options: AskOptions) => {
    if (name !== 'cellarReadings') return others.ask(name as never, wanted as never, options)
    options.onTook?.(tookMs())
    return { kind: 'answered' as const, answer: answer(wanted), asOf: null, isBehind: false }
  }
  return { ask: ask as Asked['ask'], close: () => others.close() }
}
