import { readFileSync } from 'node:fs'

/**
 * One Ctrl-C can arrive twice: from the terminal, and from npx or bun, which pass it on. A second one in this time is ignored.
 */
export const sameSignalMsMax = 500
const launcherLookMs = 250

export type Hangup = {
  /** Then nobody is left who could stop the service by Ctrl-C, so it stops. */
  readonly isTerminalGone: () => boolean
  /** Scripts send SIGHUP to programs after a change of files. */
  readonly onReadAgain: () => void
}

/**
 * A second signal ends the process at once, but is ignored within `sameSignalMsMax`, because one Ctrl-C can arrive twice.
 */
export const untilStopped = ({ isTerminalGone, onReadAgain }: Hangup): Promise<string> =>
  new Promise((resolve) => {
    let firstAtMs: number | null = null
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAtMs === null) {
        firstAtMs = performance.now()
        resolve(signal)
      } else if (performance.now() - firstAtMs > sameSignalMsMax) {
        process.off('SIGTERM', onSignal).off('SIGINT', onSignal).removeAllListeners('SIGHUP')
        process.kill(process.pid, signal)
      }
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    process.on('SIGHUP', (signal) => (isTerminalGone() ? onSignal(signal) : onReadAgain()))
    onNpxGone(() => resolve('npx has ended'))
  })

/**
 * npx runs `sh`, `sh` runs `bun start`, and `bun start` runs this process. `sh` does not pass on the signal that npx gets.
 * So the service stops when `sh` is gone.
 */
const onNpxGone = (tell: () => void): void => {
  const shell = parentOf(process.ppid)
  if (shell === null || !isNpx(parentOf(shell))) return
  const look = setInterval(() => {
    if (parentOf(process.ppid) === shell) return
    clearInterval(look)
    tell()
  }, launcherLookMs)
  look.unref()
}

const isNpx = (processId: number | null): boolean =>
  processId !== null && (readProcess(processId, 'cmdline') ?? '').startsWith('npm exec ')

const parentOf = (processId: number): number | null => {
  const parent = /^PPid:\s*(\d+)$/m.exec(readProcess(processId, 'status') ?? '')?.[1]
  return parent === undefined ? null : Number(parent)
}

/** Only Linux has /proc. */
const readProcess = (processId: number, file: 'status' | 'cmdline'): string | null => {
  try {
    return readFileSync(`/proc/${processId}/${file}`, 'utf8')
  } catch {
    return null
  }
}
