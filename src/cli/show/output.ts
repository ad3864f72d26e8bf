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
