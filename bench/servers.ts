import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { scripts } from '../package.json'
import { askService } from '../src/cli/control-client.ts'
import { exitCodes } from '../src/cli/exit-codes.ts'
import type { Operation } from '../src/cli/operations.ts'
import { keyLimitReadingsMax } from '../src/limits.ts'

/** A server in a process of its own. `stop` ends it by its process id and removes what it stored. */
export type BenchServer = { readonly url: string; stop(): Promise<void> }

const root = join(import.meta.dir, '..')

export const startBare = (): Promise<BenchServer> => startScript('bare-server.ts')

/** Starts a server of `bench/` that prints its URL once it listens. */
export const startScript = async (file: string, env: Readonly<Record<string, string>> = {}): Promise<BenchServer> => {
  const child = Bun.spawn([process.execPath, join(root, 'bench', file)], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const url = await firstLine(child.stdout)
  return { url: url.replace(/\/$/, ''), stop: () => end(child) }
}

/** Beside the project and not in the system's temporary folder, which is memory on many machines: fsync costs nothing there. */
export const benchFolder = (): string => mkdtempSync(join(root, 'bench-data-'))

export type BenchService = BenchServer & { readonly cellar: string; readonly keys: readonly string[] }

/**
 * The service as it is sold, in an empty folder, in production mode, with `keyCount` keys whose limit the load can't
 * reach; on the embedded log, unless `env` names another.
 */
export const startService = async (
  keyCount: number,
  env: Readonly<Record<string, string>> = {},
): Promise<BenchService> => {
  const dataDir = benchFolder()
  const { url, child } = await startOn(dataDir, env)
  const cellar = 'wine-berlin1'
  await ask(dataDir, { op: 'create_cellar', cellar, title: '' })
  const limit = { readings: keyLimitReadingsMax, windowMs: 60_000 }
  const keys: string[] = []
  for (let count = 0; count < keyCount; count++) {
    keys.push(...(await ask(dataDir, { op: 'create_key', cellar, label: '', note: '', limit, expiresAt: null })))
  }
  return {
    url,
    cellar,
    keys,
    stop: async () => {
      await end(child)
      rmSync(dataDir, { recursive: true })
    },
  }
}

/** What `bun start` sets for the engine's heap. */
const heapSettings = Object.fromEntries(
  Array.from(scripts.start.matchAll(/(BUN_JSC_\w+)=([\w.]+)/g), ([, name, value]) => [name, value]),
)

/** The service on that data folder, in production mode, once it is ready. */
export const startOn = async (
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly child: Bun.Subprocess }> => {
  const port = await freePort()
  const child = Bun.spawn([process.execPath, join(root, 'src/main.ts'), 'serve'], {
    env: {
      ...process.env,
      ...heapSettings,
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

/** Has the running service do it; the answer is the keys it made. */
const ask = async (dataDir: string, operation: Operation): Promise<readonly string[]> => {
  const answer = await askService(dataDir, operation)
  const keys: string[] = []
  for (let next = await answer?.next(); ; next = await answer?.next()) {
    if (next === undefined) throw new Error('Cannot prepare the service: it does not answer on its socket')
    if (next.done === true) {
      if (next.value.exitCode !== exitCodes.done) throw new Error(`Cannot prepare the service: ${next.value.message}`)
      return keys
    }
    const line = next.value
    if (line.kind === 'key' && line.value.key !== undefined) keys.push(line.value.key)
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
