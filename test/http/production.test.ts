import { expect, test } from 'bun:test'

/**
 * Elysia answers otherwise in production, and knows which it is from the moment it is loaded. So every answer of every route
 * is asked for once more, in a process that runs in production from its start.
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
