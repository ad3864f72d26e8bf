import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scripts } from '../../../package.json'
import { programs } from '../../../src/http/dashboard/pages/guide-pages.tsx'
import { paths } from '../../../views/paths.ts'
import { visitor } from '../../http/dashboard/visitor.ts'
import { gather, newFolder, root } from '../../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const empty = join(folder.path, 'empty')
const system = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'
const executable = join(folder.path, `cellarbook-${system}`)
/** No program can be found, and nothing of the checkout. */
const env = { PATH: '/nowhere', DATA_DIR: join(empty, 'data'), PORT: '0' }
const running: Bun.Subprocess[] = []

beforeAll(async () => {
  mkdirSync(empty)
  const build = Bun.spawn([process.execPath, 'deploy/build.ts', 'here', folder.path], { cwd: root, stdout: 'ignore' })
  expect(await build.exited).toBe(0)
})
afterAll(async () => {
  for (const child of running) {
    child.kill('SIGKILL')
    await child.exited
  }
  folder.remove()
})

const run = async (...words: readonly string[]): Promise<string> => {
  const child = Bun.spawn([executable, ...words], { cwd: empty, env, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, stderr]).toEqual([0, ''])
  return stdout
}

test.skipIf(process.platform !== 'linux')(
  'the executable alone stores a reading and shows every page file',
  async () => {
    await run('cellar', 'create', 'c')
    const { key } = JSON.parse(await run('key', 'create', '--cellar', 'c', '--json'))
    const child = Bun.spawn([executable, 'serve'], { cwd: empty, env, stdout: 'pipe', stderr: 'pipe' })
    running.push(child)
    const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)]
    const url = (await stderr.until(/listens on (\S+)/))?.[1] ?? ''
    const told = await stderr.until(/Nobody can sign in yet\..* run: (.*) operator link\n/)
    expect(told?.[1]).toBe(executable)

    // The heap grows as with `bun start`: the process has replaced itself by one with these settings.
    const settings = readFileSync(`/proc/${child.pid}/environ`, 'utf8').match(/BUN_JSC_\w+=\w+/g)
    expect(settings).toEqual(scripts.start.match(/BUN_JSC_\w+=\w+/g))

    const posted = await fetch(`${url}/api/v1/ingest`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify({ cellar: 'c', rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }),
    })
    expect(posted.status).toBe(200)

    // A weak password meets the dictionary, which is on a thread.
    const link = JSON.parse(await run('operator', 'link', '--json'))
    const person = visitor(url)
    const linkPath = new URL(link.url).pathname
    await person.get(linkPath)
    const spend = (password: string) => person.post(linkPath, { email: 'ada@example.org', password })
    expect((await spend('administrator')).body).toContain('This password is easy to guess')
    expect((await spend('glacier tumble orbit pickle')).status).toBe(303)

    const page = await person.get(paths.cellar('c'))
    const assets = [...page.body.matchAll(/\/assets\/[^"]+/g)].map(([path]) => path)
    expect(assets.length).toBeGreaterThan(4)
    const guide = await person.get(paths.devicesGuide)
    expect(guide.body).toContain('X-API-Key')
    for (const path of [...assets, ...programs.map((name) => paths.deviceProgram(name))]) {
      const { status, body } = await person.get(path.replaceAll('&amp;', '&'))
      expect([path, status, body.length > 100]).toEqual([path, 200, true])
    }
    // The thread that answers questions, and the models of the follower.
    expect((await person.get(paths.log())).body).toContain('Key 1')

    // The thread of the daily check.
    expect(await stdout.until(/the log was checked: it is sound/)).not.toBeNull()

    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(stdout.text()).not.toMatch(/"level":"(warn|error)"/)
  },
)
