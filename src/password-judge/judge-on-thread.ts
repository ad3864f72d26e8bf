import type { PasswordJudge } from '../actors/operator/passwords.ts'
import type { Schedule } from '../actors/schedule.ts'
import { type PasswordContext, type Weakness, weaknessByNames } from '../domain/weak-password.ts'
import { passwordJudgementMsMax } from '../limits.ts'
import { WorkerThread } from '../worker-thread.ts'

export type ToJudge = { readonly password: string; readonly context: PasswordContext }
export type Judged = { readonly weakness: Weakness | null } | 'failed'

export type JudgeParts = {
  readonly schedule: Schedule
  /** Called if the dictionary could not judge. The text never contains the password. */
  readonly onFault: (why: string) => void
  /** The thread's module. A test gives one that fails. */
  readonly thread?: URL
}

/**
 * First looks for the e-mail and names of cellars in the password, because the dictionary would miss some of them. Then
 * a thread asks the dictionary. The thread has ended when the answer arrives, so its memory and the memory of a
 * password hash are never used together. If the thread fails, the names decide alone: people must be able to choose a
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

/** Returns a text with the reason if there is no judgement. */
const ask = (question: ToJudge, module: URL, schedule: Schedule): Promise<Exclude<Judged, 'failed'> | string> => {
  const ended = Promise.withResolvers<Exclude<Judged, 'failed'> | string>()
  let answer: Awaited<typeof ended.promise> = 'the thread ended without an answer'
  const thread = new WorkerThread<ToJudge, Judged>({
    module,
    hasSmallHeap: true,
    onMessage: (judged) => {
      answer = judged === 'failed' ? 'the judgement threw an error' : judged
      thread.end()
    },
    // The module failed to load, so the thread never saw the password.
    onFault: (why) => {
      answer = `the thread failed: ${why}`
      thread.end()
    },
    onEnd: () => {
      forget()
      ended.resolve(answer)
    },
  })
  // After `new WorkerThread`, which throws if the system refuses a thread. The timer would have none to end.
  const forget = schedule.after(passwordJudgementMsMax, () => {
    thread.end()
    ended.resolve(`the thread had not ended after ${passwordJudgementMsMax} ms`)
  })
  thread.post(question)
  return ended.promise
}
