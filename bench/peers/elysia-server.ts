/** Shows the cost of Elysia alone. It has the same validation and answer as the service, but stores nothing. */
import { Elysia, t } from 'elysia'

const message = { status: 'success', message: 'Reading stored.', timestamp: '2026-03-01T12:00:00Z' }
const name = t.String({ minLength: 1, maxLength: 128 })

const routes = new Elysia().post(
  '/api/v1/ingest',
  ({ set }) => {
    set.headers['X-Content-Type-Options'] = 'nosniff'
    set.headers['Cache-Control'] = 'no-store'
    set.headers['X-Request-Id'] = crypto.randomUUID()
    set.headers['X-Receipt'] = 'readings-4fGh7kLm@1234567'
    set.headers['RateLimit-Policy'] = '"default";q=10000000;w=60'
    set.headers['RateLimit'] = '"default";r=9999999;t=60'
    return message
  },
  { body: t.Object({ cellar: name, rack: name, keg: name, value: t.Number(), timestamp: t.String() }) },
)

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: routes.fetch })
process.stdout.write(`${server.url.href}\n`)
