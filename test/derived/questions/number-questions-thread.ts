import { serveQuestions } from '../../../src/derived/questions/serve-questions.ts'
import { numberQuestions } from './number-questions.ts'

declare const self: Worker

serveQuestions(self, numberQuestions)
