import { readFileSync } from 'node:fs'
import { launcherLookMs, sameSignalMsMax } from '../limits.ts'

/** Resolves with what asks the service to stop. A second signal ends the process as if it had never been caught. */
export const untilStopped = (environment: { readonly [name: string]: string | undefined }): Promise<string> =>
  new Promise((resolve) => {
    let firstAtMs: number | null = null
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAtMs === null) {
        firstAtMs = performance.now()
        resolve(signal)
      } else if (performance.now() - firstAtMs > sameSignalMsMax) {
        process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
        process.kill(process.pid, signal)
      }
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    // npx passes a signal to its shell and no further: the shell ends, and a service below it would live on unseen.
    if (environment['npm_command'] === 'exec') onLauncherGone(() => resolve('npx has ended'))
  })

/** npx runs a shell, that runs `bun start`, that runs this process: the shell is gone once our parent has another parent. */
const onLauncherGone = (tell: () => void): void => {
  const launcher = parentOf(process.ppid)
  if (launcher === null) return
  const look = setInterval(() => {
    if (parentOf(process.ppid) === launcher) return
    clearInterval(look)
    tell()
  }, launcherLookMs)
  look.unref()
}

/** `null` where the system does not say (only Linux has /proc). */
const parentOf = (processId: number): number | null => {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8')
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? Number.NaN)
  } catch {
    return null
  }
}
