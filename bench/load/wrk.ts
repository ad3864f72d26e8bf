export type WrkResult = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /**
   * Counts failed sockets, and answers with a status other than 2xx or 3xx. If there are any, the caller must discard
   * the figures, because refusals are faster.
   */
  readonly failures: number
}

export type WrkLoad = {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** Lua, like `ingest-load.lua`. */
  readonly script: string
  /** API keys go through the environment, because every process can read the arguments of a command. */
  readonly env: Readonly<Record<string, string>>
}

export const wrk = async (load: WrkLoad): Promise<WrkResult> => {
  const child = Bun.spawn(
    ['wrk', '-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--latency', '-s', load.script, load.url],
    { env: { ...process.env, ...load.env }, stdout: 'pipe', stderr: 'inherit' },
  )
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`Cannot measure ${load.url}: wrk failed`)
  return parseWrk(text)
}

export const wrkIsInstalled = (): boolean => Bun.which('wrk') !== null

const parseWrk = (text: string): WrkResult => {
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]
  if (rate === undefined) throw new Error(`Cannot read what wrk printed: ${text}`)
  const refused = Number(/Non-2xx or 3xx responses:\s+(\d+)/.exec(text)?.[1] ?? 0)
  const sockets = [...text.matchAll(/(?:connect|read|write|timeout) (\d+)/g)]
  return {
    requestsPerSecond: Number(rate),
    p50Ms: percentileMs(text, 50),
    p99Ms: percentileMs(text, 99),
    failures: refused + sockets.reduce((sum, [, count]) => sum + Number(count), 0),
  }
}

const unitMs: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }

const percentileMs = (text: string, percent: number): number => {
  const found = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)$`, 'm').exec(text)
  return Number(found?.[1] ?? Number.NaN) * (unitMs[found?.[2] ?? ''] ?? Number.NaN)
}
