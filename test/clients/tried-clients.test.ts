/** Sends a reading with each client that people use, as it comes from its language or from Debian. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptedReadings } from '../support/answers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Service, startService, validReading } from '../support/test-service.ts'
import { buildMsMax, type Client, goCache, isThere, reportMissing, runIn, toolOf } from './tools.ts'

const folder = temporaryFolder()
let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const file = (name: string): string => join(import.meta.dir, 'tried', name)
const works = (...words: readonly string[]): boolean =>
  toolOf(words[0] ?? '') !== null && Bun.spawnSync([...words], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0

/** A client that runs a file of the folder `tried`. */
const ofFile = (name: string, tool: string | null, ...words: readonly string[]): Client => ({
  name,
  isInstalledByCi: true,
  command: tool === null ? null : [tool, ...words],
})
/** A client that is a line of the shell. */
const ofLine = (name: string, isHere: boolean, line: string): Client => ({
  name,
  isInstalledByCi: true,
  command: isHere ? ['sh', '-c', line] : null,
})

const isBusyboxHere = toolOf('busybox') !== null
const isNetcatHere = works('sh', '-c', 'nc -h 2>&1 | grep -q OpenBSD')
const curl = `curl -sS "$INGEST_URL" -H "X-API-Key: $KEY" -H 'Content-Type: application/json'`
const wgetHeaders = `--header "X-API-Key: $KEY" --header 'Content-Type: application/json'`
const dotnetFile = join(folder.path, 'HttpClientPost.cs')

const clients: readonly Client[] = [
  ofLine('curl', toolOf('curl') !== null, `${curl} -d "$READING"`),
  ofLine('curl, in chunks', toolOf('curl') !== null, `${curl} -H 'Transfer-Encoding: chunked' -d "$READING"`),
  ofLine('curl with Expect', toolOf('curl') !== null, `${curl} -H 'Expect: 100-continue' -d "$READING"`),
  ofLine('curl with HTTP/1.0', toolOf('curl') !== null, `${curl} --http1.0 -d "$READING"`),
  ofLine('wget', toolOf('wget') !== null, `wget -q -O - ${wgetHeaders} --post-data "$READING" "$INGEST_URL"`),
  ofLine('busybox wget', isBusyboxHere, `busybox wget -q -O - ${wgetHeaders} --post-data "$READING" "$INGEST_URL"`),
  ofFile('netcat', isNetcatHere ? 'sh' : null, file('netcat.sh')),
  ofFile('bash and /dev/tcp', toolOf('bash'), file('dev-tcp.bash')),
  ofFile('Python http.client', toolOf('python3'), file('http_client.py')),
  ofFile('Python urllib', toolOf('python3'), file('urllib_request.py')),
  ofFile('Node fetch', toolOf('node'), file('node-fetch.mjs')),
  ofFile('Node http', toolOf('node'), file('node-http.mjs')),
  ofFile('Go net/http', toolOf('go'), 'run', file('net-http.go')),
  ofFile('Ruby Net::HTTP', toolOf('ruby'), file('net_http.rb')),
  ofFile('Perl HTTP::Tiny', works('perl', '-MHTTP::Tiny', '-e', '1') ? 'perl' : null, file('http_tiny.pl')),
  ofFile('PHP streams', toolOf('php'), file('stream.php')),
  ofFile('LuaSocket', works('lua5.4', '-lsocket', '-e', '') ? 'lua5.4' : null, file('luasocket.lua')),
  // Neither of these two is in Debian at a size that is worth its time.
  { ...ofFile('Java HttpClient', toolOf('javac') && 'java', file('HttpClientPost.java')), isInstalledByCi: false },
  { ...ofFile('.NET HttpClient', toolOf('dotnet'), 'run', dotnetFile), isInstalledByCi: false },
]

test('every tried client has a tool here, or is named', () => {
  expect(reportMissing(clients)).toEqual([])
})

test.each(clients.filter(isThere))(
  '$name stores a reading',
  async ({ command }) => {
    const work = mkdtempSync(join(folder.path, 'run-'))
    const { key } = await service.createKey()
    const before = (await acceptedReadings(service.log)).length
    // Its length in bytes is not its length in characters.
    const reading = { ...validReading, rack: 'Faß 17 – 東京 🍷' }
    writeFileSync(join(work, 'reading.json'), JSON.stringify(reading))
    // The command `dotnet run` writes beside its source.
    await Bun.write(dotnetFile, Bun.file(file('HttpClientPost.cs')))
    const { stdout, stderr, code } = await runIn(work, command, {
      environment: {
        INGEST_URL: `${service.url}/api/v1/ingest`,
        KEY: key,
        READING: JSON.stringify(reading),
        GO111MODULE: 'off',
        GOCACHE: goCache,
        DOTNET_NOLOGO: '1',
        DOTNET_CLI_TELEMETRY_OPTOUT: '1',
      },
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('"message":"Reading stored."')
    const stored = (await acceptedReadings(service.log)).slice(before)
    expect(stored.map(({ data }) => data.rack)).toEqual([reading.rack])
  },
  buildMsMax,
)

const busyboxWget = clients.filter(isThere).filter(({ name }) => name === 'busybox wget')

test.each(busyboxWget)('$name takes a 207 for an error, although a reading was stored', async () => {
  const { key } = await service.createKey()
  const before = (await acceptedReadings(service.log)).length
  const batch = JSON.stringify({ readings: [validReading, { ...validReading, value: '21.5' }] })
  const line = `busybox wget -O - ${wgetHeaders} --post-data '${batch}' ${service.url}/api/v1/ingest/batch`
  const { code, stdout, stderr } = await runIn(folder.path, ['sh', '-c', line], { environment: { KEY: key } })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('207')
  expect((await acceptedReadings(service.log)).length - before).toBe(1)
})
