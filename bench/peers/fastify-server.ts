/**
 * Shows what a team could build in an afternoon: validation, a connection pool, prepared statements, hashed keys and a
 * durable INSERT for each reading. It has no rate limit, keeps no history, and cannot prove the order of readings.
 */
import { createHash, randomUUID } from 'node:crypto'
import fastify from 'fastify'
import pg from 'pg'

type Reading = {
  readonly cellar: string
  readonly rack: string
  readonly keg: string
  readonly value: number
  readonly timestamp: string
}

const name = { type: 'string', minLength: 1, maxLength: 128 } as const
const schema = {
  body: {
    type: 'object',
    required: ['cellar', 'rack', 'keg', 'value', 'timestamp'],
    properties: {
      cellar: name,
      rack: name,
      keg: name,
      value: { type: 'number' },
      timestamp: { type: 'string', format: 'date-time' },
    },
  },
} as const

// With 16 connections, this server was faster than with 8 or 32.
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 16 })
const server = fastify({ logger: false })

const cellarOf = async (key: string): Promise<string | undefined> => {
  const secretHash = createHash('sha256').update(key).digest('hex')
  const found = await pool.query<{ cellar: string }>({
    name: 'key',
    text: 'select cellar from api_keys where secret_hash = $1 and revoked_at is null',
    values: [secretHash],
  })
  return found.rows[0]?.cellar
}

server.post<{ Body: Reading }>('/api/v1/ingest', { schema }, async (request, reply) => {
  const key = request.headers['x-api-key']
  const cellar = typeof key === 'string' ? await cellarOf(key) : undefined
  if (cellar === undefined) return reply.code(401).send({ error: 'Invalid API key' })
  const { rack, keg, value, timestamp } = request.body
  if (cellar !== request.body.cellar) return reply.code(403).send({ error: 'Not the cellar of this key' })
  const stored = await pool.query<{ id: string; accepted_at: Date }>({
    name: 'reading',
    text: 'insert into readings (cellar, rack, keg, value, taken_at) values ($1, $2, $3, $4, $5) returning id, accepted_at',
    values: [cellar, rack, keg, value, timestamp],
  })
  const row = stored.rows[0]
  reply.header('X-Request-Id', randomUUID()).header('X-Receipt', `readings@${row?.id}`)
  return { status: 'success', message: 'Reading stored.', timestamp: row?.accepted_at.toISOString() }
})

process.stdout.write(`${await server.listen({ host: '127.0.0.1', port: 0 })}\n`)
