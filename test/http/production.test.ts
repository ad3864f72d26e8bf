import { expect, test } from 'bun:test'

/**
 * Elysia behaves differently if it is loaded in production. So another process runs the tests of these routes in production.
 */
test('every answer is the same in production', async () => {
  const folders = [`${import.meta.dir}/ingest`, `${import.meta.dir}/ops`]
  const child = Bun.spawn([process.execPath, 'test', ...folders], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const report = await new Response(child.stderr).text()
  const passed = Number(/(\d+) pass\n/.exec(report)?.[1])
  expect(await child.exited, report).toBe(0)
  expect(passed).toBeGreaterThan(100)
}, 120_000)
