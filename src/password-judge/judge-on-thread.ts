import type { PasswordJudge } from '../actors/operator/passwords.ts'
import { type PasswordContext, type Weakness, weaknessByNames } from '../domain/names-in-passwords.ts'
import type { Schedule } from '../schedule.ts'
import { WorkerThread } from '../worker-thread.ts'

/**
 * Comparing a new password with the dictionary usually takes 100 ms. If it takes longer than this, the password is compared
 * only with the e-mail and the names of cellars.
 */
export const passwordJudgementMsMax = 2_000

export type ToJudge = { readonly password: string; readonly context: PasswordContext }
export type Judged = { readonly weakness: Weakness | null } | 'failed'

type JudgeParts = {
  readonly schedule: Schedule
  /** `why` never contains the password, so it can be logged. */
  readonly onFault: (why: string) => void
  readonly thread?: URL
}

/**
 * Looks for the e-mail and names of cellars first, because the dictionary would miss some. The answer comes after the
 * thread has ended, so that its memory is free before the password is hashed. If the thread fails, only the names are
 * checked: people must still be able to choose a password.
 */
export const judgeOnThread = (parts: JudgeParts): PasswordJudge => {
  const { schedule, onFault, thread = new URL('./weak-password-thread.ts', import.meta.url) } = parts
  return async (password, context) => {
    const byNames = weaknessByNames(password, context)
    if (byNames !== null) return byNames
    const judged = await ask({ password, context }, thread, schedule)
    if (typeof judged === 'object') return judged.weakness
    onFault(judged)
    return null
  }
}

/** The judgement, or a text that says why the thread gave none. */
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
    // `weak-password-thread.ts` catches its own errors, so only loading the module can fail, and `why` cannot contain the password.
    onFault: (why) => {
      answer = `the thread failed: ${why}`
      thread.end()
    },
    onEnd: () => {
      forget()
      ended.resolve(answer)
    },
  })
  // After `new WorkerThread`, which throws if the system refuses a thread. An earlier timer would have no thread to end.
  const forget = schedule.after(passwordJudgementMsMax, () => {
    thread.end()
    ended.resolve(`the thread had not ended after ${passwordJudgementMsMax} ms`)
  })
  thread.post(question)
  return ended.promise
}
