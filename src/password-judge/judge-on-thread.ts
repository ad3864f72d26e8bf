import type { PasswordJudge } from '../actors/operator/passwords.ts'
import type { Schedule } from '../actors/schedule.ts'
import { type PasswordContext, type Weakness, weaknessByNames } from '../domain/weak-password.ts'
import { passwordJudgementMsMax } from '../limits.ts'

export type ToJudge = { readonly password: string; readonly context: PasswordContext }
export type Judged = { readonly weakness: Weakness | null } | 'failed'

export type JudgeParts = {
  readonly schedule: Schedule
  /** Told why the dictionary was not asked. The text never contains the password. */
  readonly onFault: (why: string) => void
  /** The thread's module; a test has one that fails. */
  readonly thread?: URL
}

/**
 * Compares each password with the names first. The dictionary does not find all of these: it counts each sign between two names
 * as a further guess. Then a thread of its own asks the dictionary. The thread has ended when the answer arrives, so its memory
 * and the memory of a hash are never in use together. If it fails, the names decide alone: people must be able to choose a
 * password.
 */
export const judgeOnThread = (parts: JudgeParts): PasswordJudge => {
  const { schedule, onFault, thread = new URL('./judge-thread.ts', import.meta.url) } = parts
  return async (password, context) => {
    const byNames = weaknessByNames(password, context)
    if (byNames !== null) return byNames
    const judged = await ask({ password, context }, thread, schedule)
    if (typeof judged === 'object') return judged.weakness
    onFault(judged)
    return null
  }
}

/** Judged, or why not. */
const ask = (question: ToJudge, thread: URL, schedule: Schedule): Promise<Exclude<Judged, 'failed'> | string> => {
  const ended = Promise.withResolvers<Exclude<Judged, 'failed'> | string>()
  // A small heap: `smol` has the thread collect its garbage sooner.
  const worker = new Worker(thread.href, { smol: true })
  let answer: Awaited<typeof ended.promise> = 'the thread ended without an answer'
  const forget = schedule.after(passwordJudgementMsMax, () => {
    worker.terminate()
    ended.resolve(`the thread had not ended after ${passwordJudgementMsMax} ms`)
  })
  worker.onmessage = ({ data }: MessageEvent<Judged>) => {
    answer = data === 'failed' ? 'the judgement threw an error' : data
    worker.terminate()
  }
  // Only an error while its module loads gets here, before it has seen a password.
  worker.onerror = ({ message }) => {
    answer = `the thread failed: ${message}`
    worker.terminate()
  }
  worker.addEventListener('close', () => {
    forget()
    ended.resolve(answer)
  })
  worker.postMessage(question)
  return ended.promise
}
