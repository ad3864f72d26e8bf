import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { cellarbook, newFolder, startedProcesses } from '../support/cellarbook.ts'
import { selfSigned } from '../support/certificate.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

const secure = { TLS_CERT: join(folder.path, 'cert.pem'), TLS_KEY: join(folder.path, 'key.pem') }
const { cert, key } = selfSigned()
writeFileSync(secure.TLS_CERT, cert)
writeFileSync(secure.TLS_KEY, key)

// Docker can give each container a proxy. The command must not ask it.
const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'example.org' }
const addresses = Object.values(networkInterfaces()).flatMap((interfaces = []) => interfaces)
const ofNetwork = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const hosts = ['0.0.0.0', '127.0.0.2', 'localhost']
if (ofNetwork !== undefined) hosts.push(ofNetwork)
if (addresses.some(({ address }) => address === '::1')) hosts.push('::', '::1')

const environments = [proxy, secure, { ...secure, ...proxy }, ...hosts.map((HOST) => ({ HOST }))]

test.each(environments)('cellarbook health says with %p whether the service answers', async (environment) => {
  const service = await start(join(folder.path, 'log'), { environment })
  const { port } = new URL(service.url)
  const health = () => cellarbook(['health'], { ...environment, PORT: port })
  expect(await health()).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  await service.stop()
  const { exitCode, stderr } = await health()
  expect([exitCode, stderr.includes('The service does not answer at http')]).toEqual([69, true])
})

test('cellarbook health reads no setting that it does not use', async () => {
  const service = await start(join(folder.path, 'log'))
  const wrong = { LOG_LEVEL: 'loud', EVENTSTORE_URL_FILE: join(folder.path, 'missing'), TLS_CERTIFICATE: 'misspelt' }
  const ran = await cellarbook(['health'], { ...wrong, PORT: new URL(service.url).port })
  expect(ran).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  await service.stop()
})

test('cellarbook health is not content with the answer of another program', async () => {
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status: 404 }) })
  const { exitCode, stderr } = await cellarbook(['health'], { PORT: String(other.port) })
  await other.stop(true)
  expect([exitCode, stderr.trimEnd().split(': ').at(-1)]).toEqual([69, 'status 404'])
})

test('cellarbook health cannot ask a service on any free port', async () => {
  expect(await cellarbook(['health'], { PORT: '0' })).toMatchObject({ exitCode: 78 })
  const { exitCode, stderr } = await cellarbook(['health'], { PORT: '65536', TLS_CERT: 'cert.pem' })
  expect([exitCode, stderr]).toEqual([78, expect.stringContaining('PORT is "65536"')])
})
