/** This thread answers the questions of the pages. Only a thread may import this file, because the code below runs at import. */
import { questionKinds } from './question-kinds.ts'
import { serveQuestions } from './serve-questions.ts'

declare const self: Worker

serveQuestions(self, questionKinds)
