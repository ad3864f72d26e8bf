import { serveQuestions } from '../../../src/derived/questions/serve-questions.ts'
import { noSearches, numberQuestions } from './number-questions.ts'

declare const self: Worker

serveQuestions(self, numberQuestions, noSearches)
