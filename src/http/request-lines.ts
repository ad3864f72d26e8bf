import type { Schedule } from '../actors/schedule.ts'
import { errorLineMs, errorLinesMax } from '../limits.ts'

/** Log lines about requests. They contain names, numbers and codes, never a header, a body or a key. */
export type RequestLines = {
  debug(what: string, facts: { readonly [name: string]: string | number | null }): void
  info(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  warn(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  error(what: string, facts: { readonly [name: string]: string | number | null | Error }): void
}

/** Counts by name, or a list that begins with the largest count. */
type Counts = { readonly [name: string]: number } | readonly { readonly [name: string]: string | number }[]

export const thrownError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

/** Logs the first errors in each `errorLineMs`, and counts the rest, so that a client cannot fill the log with stacks. */
export const boundErrorLines = (lines: RequestLines, schedule: Schedule): RequestLines => {
  let written = 0
  let leftOut = 0
  const startAnew = (): void => {
    if (leftOut > 0) lines.error('more errors were left out', { errors: leftOut })
    written = 0
    leftOut = 0
  }
  return {
    debug: (what, facts) => lines.debug(what, facts),
    info: (what, facts) => lines.info(what, facts),
    warn: (what, facts) => lines.warn(what, facts),
    error: (what, facts) => {
      if (written + leftOut === 0) schedule.after(errorLineMs, startAnew)
      if (written === errorLinesMax) {
        leftOut += 1
        return
      }
      written += 1
      lines.error(what, facts)
    },
  }
}
