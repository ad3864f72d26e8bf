import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { join } from 'node:path'
import { environmentOf, gather, newFolder, root } from '../support/cellarbook.ts'

setDefaultTimeout(60_000)

const folder = newFolder()
afterAll(() => folder.remove())

/** Runs `words` in Bun, with at most `descriptors` files and connections open at once. */
const spawnWith = (descriptors: number, words: readonly string[]) =>
  Bun.spawn(['sh', '-c', 'ulimit -n "$1"; shift; exec "$@"', 'sh', String(descriptors), process.execPath, ...words], {
    cwd: root,
    env: environmentOf({ DATA_DIR: folder.path, EVENTSTORE_URL: '' }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Resolves when the service has answered. The connection then stays open. */
const openIdle = async (port: number): Promise<{ readonly closed: Promise<void> }> => {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const answered = new Promise<void>((resolve, reject) => socket.once('data', () => resolve()).once('error', reject))
  socket.write('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await answered
  return { closed }
}

describe.skipIf(process.platform !== 'linux')('a process with few file descriptors', () => {
  test('closes idle connections before they take the last descriptor, and says so', async () => {
    const service = spawnWith(128, ['src/main.ts', 'serve'])
    const stdout = gather(service.stdout)
    const port = Number((await gather(service.stderr).until(/listens on \S+:(\d+)/))?.[1])
    const idle = await Promise.all(Array.from({ length: 75 }, () => openIdle(port)))
    const line = /"level":"warn".*"reason":"descriptors","why":"the process may have 128, and at least \d+ are in use"/
    expect(await stdout.until(line)).not.toBeNull()
    await Promise.all(idle.map(({ closed }) => closed))
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    service.kill('SIGTERM')
    expect(await service.exited).toBe(0)
  })

  test('reports a thread that cannot start. Bun would end the whole process', async () => {
    const program = `
      import { openSync } from 'node:fs'
      import { WorkerThread } from ${JSON.stringify(join(root, 'src/worker-thread.ts'))}
      try { for (;;) openSync('/dev/null', 'r') } catch {}
      const module = new URL('data:text/javascript,')
      const thread = new WorkerThread({
        module,
        onMessage: () => {},
        onFault: (why) => console.log(why),
        onEnd: () => thread.close('last').then(() => console.log('it has ended')),
      })
    `
    const child = spawnWith(64, ['-e', program])
    const [stdout, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited])
    expect(stdout).toMatch(/^the thread cannot start, .* no file descriptors left\nit has ended\n$/)
    expect(exitCode).toBe(0)
  })
})
