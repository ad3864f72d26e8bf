import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { serve } from '../../src/http/serve.ts'
import { UnfinishedBodies } from '../../src/http/unfinished-bodies.ts'

test('serve() refuses a port on which another service listens', async () => {
  const downloads = { servedBy: () => {}, count: 0, close: async () => {} }
  const app = { routes: new Elysia(), bodies: new UnfinishedBodies(), downloads }
  const first = serve(app, { hostname: '127.0.0.1', port: 0 })
  expect(() => serve(app, { hostname: '127.0.0.1', port: Number(first.port) })).toThrow(/in use/)
  await first.stop(true)
})
