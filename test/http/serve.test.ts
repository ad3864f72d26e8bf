import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { BodiesInFlight } from '../../src/http/bodies-in-flight.ts'
import { serve } from '../../src/http/serve.ts'

test('serve() refuses a port on which a service listens already: two would share its devices between them', async () => {
  const app = { routes: new Elysia(), straight: {}, bodies: new BodiesInFlight() }
  const first = serve(app, { hostname: '127.0.0.1', port: 0 })
  expect(() => serve(app, { hostname: '127.0.0.1', port: Number(first.port) })).toThrow(/in use/)
  await first.stop(true)
})
