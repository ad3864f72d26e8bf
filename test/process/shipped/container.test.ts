import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { answerMsMax } from '../../../src/cli/commands/health-command.ts'
import { gather, newFolder, root } from '../../support/cellarbook.ts'

setDefaultTimeout(600_000)

const program = newFolder()
const data = newFolder()
afterAll(() => {
  program.remove()
  data.remove()
})

/** The files that the first stage of the Dockerfile copies from the repository. */
const copied = (): readonly { readonly from: string; readonly to: string }[] =>
  readFileSync(join(root, 'Dockerfile'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [instruction, ...paths] = line.split(/\s+/)
      const to = paths.at(-1) ?? ''
      if (instruction !== 'COPY' || paths[0]?.startsWith('--')) return []
      return paths
        .slice(0, -1)
        .map((from) => ({ from, to: to.endsWith('/') ? join(to, from.split('/').at(-1) ?? '') : to }))
    })

test('the container builds the executable from the files that it copies', async () => {
  for (const { from, to } of copied()) cpSync(join(root, from), join(program.path, to), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(program.path, 'node_modules'))
  const built = join(program.path, 'dist')
  const build = Bun.spawn([process.execPath, 'deploy/build.ts', 'here', built], { cwd: program.path, stdout: 'ignore' })
  expect(await build.exited).toBe(0)
  const [name = ''] = readdirSync(built)
  expect(name).toStartWith('cellarbook-linux-')
  const env = { DATA_DIR: data.path, PORT: '0' }
  const service = Bun.spawn([join(built, name), 'serve'], { cwd: data.path, env, stdout: 'ignore', stderr: 'pipe' })
  const url = (await gather(service.stderr).until(/listens on (\S+)/))?.[1]
  for (const path of ['/readyz', '/sign-in', '/assets/app.css']) {
    const answer = await fetch(`${url}${path}`)
    expect([path, answer.status]).toEqual([path, 200])
  }
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
})

test('the container asks itself by the command `health` whether it is healthy', () => {
  const wordsOf = (instruction: RegExp): unknown =>
    JSON.parse(instruction.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '[]')
  expect(wordsOf(/^HEALTHCHECK .* CMD (\[.*\])$/m)).toEqual([...Object(wordsOf(/^ENTRYPOINT (\[.*\])$/m)), 'health'])
})

test('a check of the health ends before Docker gives it up', () => {
  const [, seconds] = /^HEALTHCHECK .* --timeout=(\d+)s /m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
  expect(answerMsMax).toBeLessThan(Number(seconds) * 1_000)
})

test('the container gets every file that it copies', () => {
  const left = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  for (const { from } of copied()) expect(left).toContain(`!${from}`)
})

test.each(['compose.yaml', 'compose.cluster.yaml'])('every service of %s has bounded log files', (file) => {
  const compose: unknown = Bun.YAML.parse(readFileSync(join(root, file), 'utf8'))
  const services = Object.entries(Object(Object(compose).services))
  expect(services.length).toBeGreaterThan(0)
  const bounded = { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } }
  for (const [name, service] of services) expect([name, Object(service).logging]).toEqual([name, bounded])
})
