import { progressLineMs, progressRedrawMs } from '../../limits.ts'
import { visibleText } from './visible-text.ts'

/** A line that says how far a long command is; on stderr, so that stdout stays the result's. */
export type Progress = {
  /** Shows the newest line, if it is time for one. */
  show(line: string): void
  /** Shows the last line, whatever the time, and ends it. */
  end(line: string): void
}

export type Screen = { readonly isTTY?: boolean; write(text: string): unknown }

/** On a terminal one line is drawn over and over; elsewhere (a file, CI) a line every few seconds is enough. */
export const createProgress = (screen: Screen, now: () => number): Progress => {
  const isTerminal = screen.isTTY === true
  const everyMs = isTerminal ? progressRedrawMs : progressLineMs
  let lastAt = now()
  const clear = isTerminal ? '\r\u001b[2K' : ''
  return {
    show: (line) => {
      if (now() - lastAt < everyMs) return
      lastAt = now()
      screen.write(isTerminal ? clear + visibleText(line) : `${visibleText(line)}\n`)
    },
    end: (line) => {
      screen.write(`${clear}${visibleText(line)}\n`)
    },
  }
}
