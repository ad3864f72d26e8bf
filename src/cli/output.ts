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
  let gone = false
  let resume: (() => void) | null = null
  const wake = (): void => {
    resume?.()
    resume = null
  }
  stream.on('drain', wake)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    gone = true
    wake()
  })
  const refuseIfGone = (): void => {
    if (gone) throw new ReaderGone('Cannot write the result: its reader has closed the pipe')
  }
  return {
    write: async (text) => {
      refuseIfGone()
      if (stream.write(text)) return
      if (!gone) await new Promise<void>((resolve) => (resume = resolve))
      refuseIfGone()
    },
    flush: () => new Promise((resolve) => stream.write('', () => resolve())),
  }
}
