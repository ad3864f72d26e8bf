/** Runs the program as a process, with its real arguments, environment, output and exit code. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logEnvironment } from './logs/engine.ts'

export const root = join(import.meta.dir, '../..')
const main = join(root, 'src/main.ts')
/** How messages call a program that `cellarbook()` or `startProcess()` has started. */
export const program = `${process.execPath} src/main.ts`

/**
 * The environment of a started process, without other variables of the developer's shell. `TEST_ENGINE` chooses the log
 * engine if there is a `DATA_DIR` and no `EVENTSTORE_URL`. An empty `EVENTSTORE_URL` means the embedded log.
 */
export const environmentOf = (more: Readonly<Record<string, string>>): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  PORT: '0',
  ...(more['DATA_DIR'] !== undefined && more['EVENTSTORE_URL'] === undefined && logEnvironment(more['DATA_DIR'])),
  ...more,
})

export type Ran = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly lines: readonly Record<string, unknown>[]
}

export const cellarbook = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> => {
  const child = Bun.spawn([process.execPath, main, ...words], {
    cwd: root,
    env: environmentOf(environment),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return {
    exitCode,
    stdout,
    stderr,
    get lines() {
      return stdout.trimEnd().split('\n').filter(Boolean).map(parsedLine)
    },
  }
}

const parsedLine = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`not a JSON object: ${text}`)
  return { ...value }
}

export type ServiceProcess = {
  readonly url: string
  readonly processId: number
  readonly exited: Promise<number>
  stdout(): string
  stderr(): string
  /** Resolves with `null` if the process ends without a match. */
  untilStdout(pattern: RegExp): Promise<RegExpExecArray | null>
  untilStderr(pattern: RegExp): Promise<RegExpExecArray | null>
  signal(signal: NodeJS.Signals): void
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number>
}

export type ProcessOptions = {
  readonly words?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The folder of the program's version. Default: this checkout. */
  readonly program?: string
}

export const startProcess = async (
  dataDir: string,
  { words = [], environment = {}, program = root }: ProcessOptions = {},
): Promise<ServiceProcess> => {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'serve', ...words], {
    cwd: program,
    env: environmentOf({ DATA_DIR: dataDir, ...environment }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const stdout = gather(child.stdout)
  const stderr = gather(child.stderr)
  const said = await stderr.until(/listens on (\S+)/)
  if (said === null) throw new Error(`the service ended with ${await child.exited}: ${stderr.text()}`)
  return {
    url: said[1] ?? '',
    processId: child.pid,
    exited: child.exited,
    stdout: stdout.text,
    stderr: stderr.text,
    untilStdout: stdout.until,
    untilStderr: stderr.until,
    signal: (signal) => child.kill(signal),
    stop: () => {
      child.kill('SIGTERM')
      return child.exited
    },
  }
}

/** `killAll` kills the processes that the tests have not stopped, for example after a failed test. */
export const startedProcesses = () => {
  const running: ServiceProcess[] = []
  return {
    start: async (...parameters: Parameters<typeof startProcess>): Promise<ServiceProcess> => {
      const service = await startProcess(...parameters)
      running.push(service)
      return service
    },
    killAll: async (): Promise<void> => {
      for (const service of running.splice(0)) {
        service.signal('SIGKILL')
        await service.exited
      }
    },
  }
}

/** Collects the output of a process. `until` resolves with `null` if the output ends without a match. */
export const gather = (stream: ReadableStream<Uint8Array>) => {
  let text = ''
  let look = (): void => {}
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const piece of stream) {
      text += decoder.decode(piece, { stream: true })
      look()
    }
  })()
  return {
    text: () => text,
    ended,
    until: (pattern: RegExp): Promise<RegExpExecArray | null> =>
      new Promise((resolve) => {
        look = () => {
          const match = pattern.exec(text)
          if (match !== null) resolve(match)
        }
        look()
        ended.then(() => resolve(pattern.exec(text)))
      }),
  }
}

export type Folder = { readonly path: string; remove(): void }

export const newFolder = (): Folder => {
  const path = mkdtempSync(join(tmpdir(), 'cellarbook-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export const textOf = (line: Readonly<Record<string, unknown>> | undefined, field: string): string => {
  const value = line?.[field]
  if (typeof value !== 'string') throw new Error(`no text in "${field}" of ${JSON.stringify(line)}`)
  return value
}
