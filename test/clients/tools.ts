/**
 * Which clients are on this machine. A test prints each one that is not, because a client that nobody ran proves nothing.
 * With `ALL_CLIENTS=1`, which `.ci/run` sets, a client that it installs must be there.
 */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const areAllClientsNeeded = process.env['ALL_CLIENTS'] === '1'

/** The first of these programs that is on this machine. */
export const toolOf = (...names: readonly string[]): string | null => {
  for (const name of names) if (Bun.which(name) !== null) return name
  return null
}

export type Client = {
  readonly name: string
  /** False: Debian 12 has no package, or the package is large. */
  readonly isInstalledByCi: boolean
  /** `null` if a program that it needs is not on this machine. */
  readonly command: readonly string[] | null
}

export const isThere = <C extends Client>(client: C): client is C & { readonly command: readonly string[] } =>
  client.command !== null

/** Prints the clients that are not there. Returns the names of those that must be there. */
export const reportMissing = (clients: readonly Client[]): readonly string[] => {
  const missing = clients.filter((client) => !isThere(client))
  for (const { name } of missing) console.log(`not run: ${name} is not on this machine`)
  return missing.filter(({ isInstalledByCi }) => isInstalledByCi && areAllClientsNeeded).map(({ name }) => name)
}

/** Go's usual cache. With an empty one, Go first compiles its standard library, which takes up to a minute. */
export const goCache = process.env['GOCACHE'] ?? join(homedir(), '.cache/go-build')
/** For commands that compile. Only a bound: it is long, so that a slow machine passes. */
export const buildMsMax = 300_000

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs a command in a folder. It gets no variable of the developer's shell but `PATH`. Standard input is empty by default. */
export const runIn = async (
  folder: string,
  command: readonly string[],
  {
    environment = {},
    input = '',
  }: { readonly environment?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<Ended> => {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const child = Bun.spawn([...command], {
    cwd: folder,
    // In this time zone, local time is not UTC, and not even whole hours from it.
    env: { PATH: process.env['PATH'] ?? '', HOME: home, TZ: 'Australia/Adelaide', ...environment },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}
