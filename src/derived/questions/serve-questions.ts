/** The thread's side of `asked-questions.ts`. */
import type { SourceConfig } from '../../log/open-source.ts'
import { ModelReaders } from './model-readers.ts'
import type { QuestionKinds } from './question.ts'
import { type AskedQuestion, type Ended, type OpenSearch, QuestionTurns, type TurnsParts } from './question-turns.ts'

/** Plain data, so that it can be sent to a thread. */
export type QuestionSource = SourceConfig & { readonly logId: string }

export type ToQuestionThread =
  | { readonly kind: 'open'; readonly source: QuestionSource }
  | ({ readonly kind: 'ask' } & AskedQuestion)
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'close' }

export type FromQuestionThread =
  | { readonly kind: 'ended'; readonly id: number; readonly ended: Ended; readonly tookMs: number }
  | { readonly kind: 'damaged'; readonly id: number; readonly why: string }

export type QuestionThread = {
  onmessage: ((event: MessageEvent<ToQuestionThread>) => void) | null
  postMessage(message: FromQuestionThread | 'closed'): void
}

export type SearchSources = (
  source: QuestionSource,
  readers: ModelReaders,
) => {
  readonly open: OpenSearch
  close(): Promise<void>
}

export const serveQuestions = (
  thread: QuestionThread,
  kinds: QuestionKinds,
  openSources: SearchSources,
  passedMs: () => number = () => performance.now(),
): void => {
  let opened: ReturnType<typeof openThread> | null = null
  thread.onmessage = ({ data }) => {
    switch (data.kind) {
      case 'open':
        opened = openThread(thread, { kinds, passedMs }, openSources, data.source)
        return
      case 'ask':
        opened?.turns.begin(data)
        return
      case 'end':
        opened?.turns.end(data.id)
        return
      case 'close':
        void Promise.resolve(opened?.close()).then(() => thread.postMessage('closed'))
    }
  }
}

const openThread = (
  thread: QuestionThread,
  parts: Pick<TurnsParts, 'kinds' | 'passedMs'>,
  openSources: SearchSources,
  source: QuestionSource,
) => {
  const readers = new ModelReaders(source)
  const searches = openSources(source, readers)
  const turns = new QuestionTurns({
    ...parts,
    readers,
    openSearch: searches.open,
    onEnd: (id, ended, tookMs) => thread.postMessage({ kind: 'ended', id, ended, tookMs }),
    onDamage: (id, why) => thread.postMessage({ kind: 'damaged', id, why }),
  })
  const close = async (): Promise<void> => {
    turns.close()
    readers.close()
    await searches.close()
  }
  return { turns, close }
}
