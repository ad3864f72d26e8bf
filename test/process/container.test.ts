import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { scripts } from '../../package.json'
import { environmentOf, newFolder, root, type ServiceProcess, startProcess } from '../support/cellarbook.ts'
import { selfSigned } from '../support/certificate.ts'

setDefaultTimeout(600_000)

const program = newFolder()
const data = newFolder()
afterAll(() => {
  program.remove()
  data.remove()
})

/** The COPY lines of the last stage of the Dockerfile. */
const copied = (): readonly { readonly from: string; readonly to: string }[] => {
  const lastStage =
    readFileSync(join(root, 'Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? ''
  return lastStage.split('\n').flatMap((line) => {
    const [instruction, ...paths] = line.split(/\s+/)
    const to = paths.at(-1) ?? ''
    if (instruction !== 'COPY' || paths[0]?.startsWith('--')) return []
    return paths
      .slice(0, -1)
      .map((from) => ({ from, to: to.endsWith('/') ? join(to, from.split('/').at(-1) ?? '') : to }))
  })
}

test('the service starts and shows pages with only the files of its container', async () => {
  for (const { from, to } of copied()) cpSync(join(root, from), join(program.path, to), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(program.path, 'node_modules'))
  const service = await startProcess(data.path, { program: program.path })
  for (const path of ['/readyz', '/sign-in', '/assets/app.css']) {
    const answer = await fetch(`${service.url}${path}`)
    expect([path, answer.status]).toEqual([path, 200])
  }
  expect(await service.stop()).toBe(0)
})

const healthCheck = (): readonly string[] => {
  const [, words = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
  const [program, ...rest] = JSON.parse(words)
  expect(program).toBe('bun')
  return [process.execPath, ...rest]
}

const healthOf = (service: ServiceProcess, environment: Readonly<Record<string, string>>): Promise<number> =>
  Bun.spawn([...healthCheck()], {
    cwd: program.path,
    env: environmentOf({ ...environment, PORT: new URL(service.url).port }),
    stdout: 'ignore',
    stderr: 'ignore',
  }).exited

const addresses = Object.values(networkInterfaces()).flatMap((interfaces = []) =>
  interfaces.map(({ address }) => address),
)

test('the container is healthy only while the service answers, at any HOST', async () => {
  for (const { from, to } of copied()) cpSync(join(root, from), join(program.path, to), { recursive: true })
  const { cert, key } = selfSigned()
  const secure = { TLS_CERT: join(data.path, 'cert.pem'), TLS_KEY: join(data.path, 'key.pem') }
  writeFileSync(secure.TLS_CERT, cert)
  writeFileSync(secure.TLS_KEY, key)
  // Docker can give each container a proxy. The health check must not ask it.
  const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'example.org' }
  const hosts = ['0.0.0.0', ...(addresses.includes('::1') ? ['::', '::1'] : [])]
  for (const environment of [proxy, secure, ...hosts.map((HOST) => ({ HOST }))]) {
    const service = await startProcess(join(data.path, 'log'), { environment })
    expect(await healthOf(service, environment)).toBe(0)
    await service.stop()
    expect(await healthOf(service, environment)).not.toBe(0)
  }
})

test('the container gets every file that it copies', () => {
  const left = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  for (const { from } of copied()) expect(left).toContain(`!${from}`)
})

test('the container has the heap that `bun start` has', () => {
  const settingsIn = (text: string) => text.match(/BUN_JSC_\w+=[\w.]+/g)
  const inContainer = settingsIn(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  expect(inContainer).toHaveLength(2)
  expect(settingsIn(scripts.start)).toEqual(inContainer)
})

test.each(['compose.yaml', 'compose.cluster.yaml'])('every service of %s has bounded log files', (file) => {
  const compose: unknown = Bun.YAML.parse(readFileSync(join(root, file), 'utf8'))
  const services = Object.entries(Object(Object(compose).services))
  expect(services.length).toBeGreaterThan(0)
  const bounded = { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } }
  for (const [name, service] of services) expect([name, Object(service).logging]).toEqual([name, bounded])
})
