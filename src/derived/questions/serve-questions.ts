/** The thread's side of `asked-questions.ts`. */
import type { ModelFolder } from './model-readers.ts'
import type { QuestionKinds } from './question.ts'
import { type Ended, QuestionTurns } from './question-turns.ts'

export type ToQuestionThread =
  | { readonly kind: 'open'; readonly folder: ModelFolder }
  | { readonly kind: 'ask'; readonly id: number; readonly name: string; readonly parameters: unknown }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'close' }

export type FromQuestionThread = { readonly id: number; readonly ended: Ended }

export type QuestionThread = {
  onmessage: ((event: MessageEvent<ToQuestionThread>) => void) | null
  postMessage(message: FromQuestionThread | 'closed'): void
}

export const serveQuestions = (thread: QuestionThread, kinds: QuestionKinds): void => {
  let turns: QuestionTurns | null = null
  thread.onmessage = ({ data }) => {
    switch (data.kind) {
      case 'open':
        turns = new QuestionTurns(kinds, data.folder)
        return
      case 'ask':
        turns?.begin(data.id, data, (ended) => thread.postMessage({ id: data.id, ended }))
        return
      case 'end':
        turns?.end(data.id)
        return
      case 'close':
        turns?.close()
        thread.postMessage('closed')
    }
  }
}
