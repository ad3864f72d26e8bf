/** This thread answers the questions of pages and exports. Only a thread may import this file, because the code below runs at import. */
import { serveQuestions } from '../derived/questions/serve-questions.ts'
import { questionKinds } from './question-kinds.ts'
import { openSearches } from './search-sources.ts'

declare const self: Worker

serveQuestions(self, questionKinds, openSearches)
