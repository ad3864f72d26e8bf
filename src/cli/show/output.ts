import { visibleText } from '../../hidden-characters.ts'
import { progressLineMs, progressRedrawMs } from '../../limits.ts'

/** Where a command's result goes. `write` waits while the reader is slow, so that a large log needs no large memory. */
export type Output = {
  /** @throws ReaderGone once the reader has closed the pipe (`| head`). */
  write(text: string): Promise<void>
  /** Resolves when all that was written has left the process. */
  flush(): Promise<void>
}

/** Not a failure: whoever reads has seen enough. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

export const createOutput = (stream: NodeJS.WriteStream): Output => {
  let failure: Error | null = null
  let resume: (() => void) | null = null
  const wake = (): void => {
    resume?.()
    resume = null
  }
  stream.on('drain', wake)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code === 'EPIPE' ? new ReaderGone('Cannot write the result: its reader has gone') : error
    wake()
  })
  const assertFit = (): void => {
    if (failure !== null) throw failure
  }
  return {
    write: async (text) => {
      assertFit()
      if (stream.write(text)) return
      if (failure === null) {
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
      assertFit()
    },
    flush: () => new Promise((resolve) => stream.write('', () => resolve())),
  }
}

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
