import type { Schedule } from '../schedule.ts'

/** Lines in each `errorLineMs`. Further errors are only counted. A stack trace has 1 to 2 KB. */
export const errorLinesMax = 10
export const errorLineMs = 1_000

/** A line contains names, numbers and codes, never a body or an API key, and of the headers only `traceparent`. */
export type RequestLines = {
  debug(what: string, facts: { readonly [name: string]: string | number | null }): void
  info(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  warn(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  error(what: string, facts: { readonly [name: string]: string | number | null | Error }): void
}

/** Largest count first. */
type Counts = { readonly [name: string]: number } | readonly { readonly [name: string]: string | number }[]

/** Bounds error lines, so that a client cannot fill the log with stack traces. */
export const boundErrorLines = (lines: RequestLines, schedule: Schedule): RequestLines => {
  let written = 0
  let leftOut = 0
  const startAnew = (): void => {
    if (leftOut > 0) lines.error('more errors were left out', { errors: leftOut })
    written = 0
    leftOut = 0
  }
  return {
    ...lines,
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
