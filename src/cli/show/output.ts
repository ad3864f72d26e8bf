import { visibleText } from '../../hidden-characters.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'

export const progressRedrawMs = 200
export const progressLineMs = 5_000

/** `write` waits for a slow reader, so that a large log does not fill the memory. */
export type Output = {
  /** @throws ReaderGone if the reader closed the pipe (`| head`), CommandFailed if the disk is full */
  write(text: string): Promise<void>
  flush(): Promise<void>
}

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
    failure =
      error.code === 'EPIPE'
        ? new ReaderGone('Cannot write the result: the reader closed the pipe')
        : new CommandFailed(`Cannot write the result: ${error.message}`, exitCodes.refused, { cause: error })
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

/** On stderr, because stdout is only for the result. */
export type Progress = {
  /** Skips the line if the last line was written a moment ago. */
  show(line: string): void
  end(line: string): void
}

export type Screen = { readonly isTTY?: boolean; write(text: string): unknown }

/** A terminal gets one line again and again. A file keeps every line, so it gets one only every few seconds. */
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
