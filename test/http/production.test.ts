import { expect, test } from 'bun:test'

/** Elysia behaves differently if `NODE_ENV` is `production` when it is loaded. So another process runs these tests with it. */
test('every answer is the same in production', async () => {
  const folders = [`${import.meta.dir}/ingest`, `${import.meta.dir}/ops`]
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '600000', ...folders], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const report = await new Response(child.stderr).text()
  const passed = Number(/(\d+) pass\n/.exec(report)?.[1])
  expect(await child.exited, report).toBe(0)
  expect(passed).toBeGreaterThan(100)
}, 600_000)
