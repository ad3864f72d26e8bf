/**
 * Shows how fast an HTTP server can be here. It parses the same JSON and sends the same answer as the service, but
 * checks no key and stores nothing.
 */
const message = JSON.stringify({
  status: 'success',
  message: 'Reading stored.',
  timestamp: '2026-03-01T12:00:00Z',
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const reading: unknown = await request.json()
    if (typeof reading !== 'object' || reading === null) return new Response(null, { status: 400 })
    return new Response(message, {
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
        'X-Request-Id': crypto.randomUUID(),
        'X-Receipt': 'readings-4fGh7kLm@1234567',
        'RateLimit-Policy': '"default";q=10000000;w=60',
        RateLimit: '"default";r=9999999;t=60',
      },
    })
  },
})

process.stdout.write(`${server.url.href}\n`)
