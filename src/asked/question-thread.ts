/** Only a thread may import this file, because the code below runs at import. */
import { constants } from 'node:os'
import { serveQuestions } from '../derived/questions/serve-questions.ts'
import { yieldProcessor } from '../log/verify/yield-processor.ts'
import { questionKinds } from './question-kinds.ts'
import { openSearches } from './search-sources.ts'

declare const self: Worker

// Readings go first when the processor is busy.
yieldProcessor(constants.priority.PRIORITY_BELOW_NORMAL)
serveQuestions(self, questionKinds, openSearches)
