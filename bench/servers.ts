import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { askService } from '../src/cli/control/control-client.ts'
import type { Operation } from '../src/cli/control/operations.ts'
import { exitCodes } from '../src/cli/exit-codes.ts'
import type { Line } from '../src/cli/show/lines.ts'
import type { Limit } from '../src/domain/events.ts'
import { keyLimitReadingsMax } from '../src/limits.ts'

/** `stop` ends the server and deletes its data. */
export type BenchServer = { readonly url: string; stop(): Promise<void> }

const root = join(import.meta.dir, '..')

export const startBare = (): Promise<BenchServer> => startScript('bare-server.ts')

/** `file` is in `peers/`. It must print its URL when it listens. */
export const startScript = async (file: string, env: Readonly<Record<string, string>> = {}): Promise<BenchServer> => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'peers', file)], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const url = await firstLine(child.stdout)
  return { url: url.replace(/\/$/, ''), stop: () => end(child) }
}

/** The folder is not in the temporary folder, because that is often in memory, where an fsync costs nothing. */
export const benchFolder = (): string => mkdtempSync(join(root, 'bench-data-'))

export type BenchService = EmptyService & {
  readonly cellar: string
  readonly keys: readonly string[]
}

export type ServiceOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** The folder of the version to start. Default: this checkout. */
  readonly checkout?: string
  /** A folder with data, which `stop` keeps. Default: an empty folder, which `stop` deletes. */
  readonly dataDir?: string
}

/** A service without cellars and keys. `ask` runs an operation of the command line and returns its lines. */
export type EmptyService = BenchServer & {
  readonly processId: number
  readonly dataDir: string
  /** Ends the service and keeps its data, unlike `stop`. */
  end(): Promise<void>
  ask(operation: Operation): Promise<readonly Line[]>
}

export const startEmptyService = async (options: ServiceOptions = {}): Promise<EmptyService> => {
  const dataDir = options.dataDir ?? benchFolder()
  const { url, child } = await startOn(dataDir, options)
  return {
    url,
    processId: child.pid,
    dataDir,
    end: () => end(child),
    ask: (operation) => ask(dataDir, operation),
    stop: async () => {
      await end(child)
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true })
    },
  }
}

/** The default limit is the highest one, which no load can reach. `null` means the limit of the cellar. */
export const createKey = async (
  service: EmptyService,
  cellar: string,
  limit: Limit | null = { readings: keyLimitReadingsMax, windowMs: 60_000 },
): Promise<string> => {
  const lines = await service.ask({ op: 'create_key', cellar, label: '', note: '', limit, expiresAt: null })
  for (const line of lines) if (line.kind === 'key' && line.value.key !== undefined) return line.value.key
  throw new Error('Cannot prepare the service: it made no key')
}

/**
 * Starts the service in production mode in an empty folder, with keys whose limit no load can reach. `env` can choose
 * another log engine.
 */
export const startService = async (
  keyCount: number,
  env: Readonly<Record<string, string>> = {},
): Promise<BenchService> => withKeys(await startEmptyService({ env }), keyCount)

/** Makes a cellar and keys whose limit no load can reach. */
export const withKeys = async (service: EmptyService, keyCount: number): Promise<BenchService> => {
  const cellar = `wine-${Date.now()}`
  await service.ask({ op: 'create_cellar', cellar, title: '' })
  const keys: string[] = []
  for (let count = 0; count < keyCount; count++) keys.push(await createKey(service, cellar))
  return { ...service, cellar, keys }
}

/** Each version is measured with the heap settings of its own `bun start`. */
const heapSettingsOf = (checkout: string): Record<string, string> => {
  const settings: Record<string, string> = {}
  const text = readFileSync(join(checkout, 'package.json'), 'utf8')
  for (const [, name = '', value = ''] of text.matchAll(/(BUN_JSC_\w+)=([\w.]+)/g)) settings[name] = value
  return settings
}

export const startOn = async (
  dataDir: string,
  { env = {}, checkout = root }: ServiceOptions = {},
): Promise<{ readonly url: string; readonly child: Bun.Subprocess }> => {
  const port = await freePort()
  const child = Bun.spawn([process.execPath, join(checkout, 'src/main.ts'), 'serve'], {
    cwd: checkout,
    env: {
      ...process.env,
      ...heapSettingsOf(checkout),
      NODE_ENV: 'production',
      DATA_DIR: dataDir,
      PORT: String(port),
      HOST: '127.0.0.1',
      ...env,
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(`${url}/readyz`, child)
  return { url, child }
}

const ask = async (dataDir: string, operation: Operation): Promise<readonly Line[]> => {
  const answer = await askService(dataDir, operation)
  const lines: Line[] = []
  for (let next = await answer?.next(); ; next = await answer?.next()) {
    if (next === undefined) throw new Error('Cannot prepare the service: it does not answer on its socket')
    if (next.done !== true) lines.push(next.value)
    else if (next.value.exitCode === exitCodes.done) return lines
    else throw new Error(`Cannot prepare the service: ${next.value.message}`)
  }
}

export const untilAnswers = async (url: string, child: Bun.Subprocess): Promise<void> => {
  for (const deadline = Date.now() + 600_000; Date.now() < deadline; await Bun.sleep(20)) {
    if (child.exitCode !== null) throw new Error(`Cannot measure ${url}: it ended before it was ready`)
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok) return
  }
  throw new Error(`Cannot measure ${url}: not ready after ten minutes`)
}

export const freePort = async (): Promise<number> => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = probe
  probe.stop(true)
  return port
}

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let text = ''
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk)
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error('Cannot start a server to measure: it ended without a word')
}

export const end = async (child: Bun.Subprocess): Promise<void> => {
  child.kill()
  await child.exited
}
