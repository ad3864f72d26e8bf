import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { serve } from '../../src/http/serve.ts'

test('serve() refuses a port on which a service listens already: two would share its devices between them', async () => {
  const first = serve({ routes: new Elysia(), straight: {} }, { hostname: '127.0.0.1', port: 0 })
  expect(() =>
    serve({ routes: new Elysia(), straight: {} }, { hostname: '127.0.0.1', port: Number(first.port) }),
  ).toThrow(/in use/)
  await first.stop(true)
})
