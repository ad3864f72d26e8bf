/**
 * Starts other databases as their Debian packages configure them, in an empty folder on the same disk. The comments
 * name the settings that decide whether data survives a power failure.
 */
import { chownSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type BenchServer, benchFolder, end, freePort, startScript, untilAnswers } from '../servers.ts'

export const influxPath = '/write?db=bench'
export const victoriaPath = '/write'

/** InfluxDB 1.x syncs its WAL at every write (`wal-fsync-delay` is 0). It checks no users. */
export const startInflux = async (): Promise<BenchServer> => {
  const folder = benchFolder()
  const [http, rpc] = [await freePort(), await freePort()]
  const config = join(folder, 'influxdb.conf')
  writeFileSync(
    config,
    [
      'reporting-disabled = true',
      `bind-address = "127.0.0.1:${rpc}"`,
      `[meta]\ndir = "${folder}/meta"`,
      `[data]\ndir = "${folder}/data"\nwal-dir = "${folder}/wal"\nquery-log-enabled = false`,
      `[http]\nbind-address = "127.0.0.1:${http}"\nlog-enabled = false`,
    ].join('\n'),
  )
  const child = start(['influxd', '-config', config])
  const url = `http://127.0.0.1:${http}`
  await untilAnswers(`${url}/ping`, child)
  const created = await fetch(`${url}/query?q=CREATE+DATABASE+bench`, { method: 'POST' })
  if (!created.ok) throw new Error('Cannot measure InfluxDB: it made no database')
  return stopping(url, child, folder)
}

/** VictoriaMetrics answers before a sync, and syncs every few seconds. It checks no users. */
export const startVictoria = async (): Promise<BenchServer> => {
  const folder = benchFolder()
  const port = await freePort()
  const child = start(['victoria-metrics', `-storageDataPath=${folder}`, `-httpListenAddr=127.0.0.1:${port}`])
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(`${url}/health`, child)
  return stopping(url, child, folder)
}

/** Fastify with PostgreSQL (`synchronous_commit` is on by default: an INSERT answers after its sync). */
export const startFastifyPostgres = async (cellar: string, keys: readonly string[]): Promise<BenchServer> => {
  const folder = benchFolder()
  const data = join(folder, 'data')
  const asUser = await unprivileged(folder)
  await run([...asUser, postgresTool('initdb'), '-D', data, '--auth=trust', '--username=bench', '--encoding=UTF8'])
  const port = await freePort()
  const listen = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const child = start([...asUser, postgresTool('postgres'), '-D', data, '-p', String(port), ...listen])
  const databaseUrl = `postgres://bench@127.0.0.1:${port}/postgres`
  await createTables(databaseUrl, cellar, keys)
  const server = await startScript('fastify-server.ts', { DATABASE_URL: databaseUrl })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await end(child)
      rmSync(folder, { recursive: true })
    },
  }
}

const createTables = async (databaseUrl: string, cellar: string, keys: readonly string[]): Promise<void> => {
  const sql = await connected(databaseUrl)
  await sql`create table api_keys (secret_hash text primary key, cellar text not null, revoked_at timestamptz)`
  await sql`create table readings (id bigint generated always as identity primary key, cellar text not null,
    rack text not null, keg text not null, value double precision not null, taken_at timestamptz not null,
    accepted_at timestamptz not null default now())`
  await sql`create index on readings (cellar, rack, keg, taken_at)`
  for (const key of keys) {
    const hash = new Bun.CryptoHasher('sha256').update(key).digest('hex')
    await sql`insert into api_keys (secret_hash, cellar) values (${hash}, ${cellar})`
  }
  await sql.end()
}

const connected = async (databaseUrl: string): Promise<SQL> => {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await Bun.sleep(50)) {
    const sql = new SQL(databaseUrl, { max: 1 })
    try {
      await sql`select 1`
      return sql
    } catch {
      await sql.end()
    }
  }
  throw new Error('Cannot measure PostgreSQL: it takes no connection after 30 s')
}

/** PostgreSQL refuses to run as root. Its package creates the user `postgres`, so root runs it as this user. */
const unprivileged = async (folder: string): Promise<readonly string[]> => {
  if (process.getuid?.() !== 0) return []
  const uid = Number(await run(['id', '-u', 'postgres']))
  chownSync(folder, uid, uid)
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
}

/** Debian has a folder for each major version of PostgreSQL. This takes the newest one that has the tool. */
const postgresTool = (name: string): string => {
  for (let version = 30; version >= 10; version--) {
    const path = `/usr/lib/postgresql/${version}/bin/${name}`
    if (existsSync(path)) return path
  }
  return name
}

export const missingPeers = (): readonly string[] =>
  [
    { name: 'influxdb', has: Bun.which('influxd') !== null },
    { name: 'victoria-metrics', has: Bun.which('victoria-metrics') !== null },
    { name: 'postgresql', has: Bun.which(postgresTool('postgres')) !== null },
  ].flatMap(({ name, has }) => (has ? [] : [name]))

const start = (command: string[]): Bun.Subprocess =>
  Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })

const run = async (command: string[]): Promise<string> => {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) === 0) return text.trim()
  throw new Error(`Cannot prepare a peer: ${command[0]} failed: ${await new Response(child.stderr).text()}`)
}

const stopping = (url: string, child: Bun.Subprocess, folder: string): BenchServer => ({
  url,
  stop: async () => {
    await end(child)
    rmSync(folder, { recursive: true })
  },
})
