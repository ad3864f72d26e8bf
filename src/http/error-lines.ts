import type { Schedule } from '../actors/schedule.ts'
import { errorLineMs, errorLinesMax } from '../limits.ts'
import type { RequestLines } from './request-lines.ts'

/**
 * The same lines, with a bound on those about errors. A request that meets a bug, or a store that is away, writes a stack, and
 * a client can send such a request again and again. The first errors are written whole, the rest only as a number.
 */
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
