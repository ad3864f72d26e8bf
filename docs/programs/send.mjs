/**
 * Sends one reading and a batch, and repeats what can pass later. Needs Node 18 or later, and no package.
 *
 * CELLARBOOK_URL=https://cellars.example CELLARBOOK_KEY=clr_… CELLARBOOK_CELLAR=wine-berlin node send.mjs
 */
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { env } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const retryStatuses = new Set([408, 409, 429, 500, 502, 503, 504])
const triesMax = 8
/** One minute, and 1 ms for each byte of the body, because a line can be as slow as 1 KiB/s. */
const timeoutMs = (body) => 60_000 + Buffer.byteLength(body)
const backoffSecondsMax = 60
/** Tests make the second shorter. */
const secondMs = Number(env.CELLARBOOK_SECOND_MS ?? 1000)

const needed = (name) => {
  const value = env[name]
  if (!value) throw new Error(`${name} is not set`)
  return value
}

const baseUrl = needed('CELLARBOOK_URL').replace(/\/+$/, '')
const key = needed('CELLARBOOK_KEY')
const cellar = needed('CELLARBOOK_CELLAR')

/** Resolves with the body of the answer. Every try has the same bytes and the same idempotency key. */
const send = async (path, content) => {
  const url = new URL(`${baseUrl}${path}`)
  const headers = new Headers({
    'X-API-Key': key,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  })
  const body = JSON.stringify(content)
  let backoff = 1
  for (let attempt = 1; ; attempt += 1) {
    const { status, text, retryAfter } = await post(url, headers, body)
    if (status === 200 || status === 207) return text
    if (status !== null && !retryStatuses.has(status)) throw new Error(`refused with ${status}: ${text}`)
    if (attempt === triesMax) throw new Error(`not stored after ${triesMax} tries: keep the readings: ${text}`)
    const seconds = retryAfter ?? backoff
    console.error(`${status ?? 'no answer'} ${text}: next try in ${seconds} s`)
    // Up to a half longer, so that the devices of a fleet do not return at the same moment.
    await sleep(seconds * secondMs * (1 + Math.random() / 2))
    backoff = Math.min(backoff * 2, backoffSecondsMax)
  }
}

/** The status is `null` if the connection broke. Redirects are not followed, because the key would go to another address. */
const post = async (url, headers, body) => {
  try {
    const signal = AbortSignal.timeout(timeoutMs(body))
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    const text = await answer.text()
    const after = answer.headers.get('Retry-After') ?? ''
    return { status: answer.status, text, retryAfter: /^\d+$/.test(after) ? Number(after) : null }
  } catch (fault) {
    return { status: null, text: String(fault.cause ?? fault), retryAfter: null }
  }
}

/** `JSON.stringify` writes `NaN` as `null`, which is refused. So leave out a reading that has no value. */
const reading = (keg, value) => ({ cellar, rack: 'rack-17', keg, value, timestamp: new Date().toISOString() })

try {
  console.log(await send('/api/v1/ingest', reading('temperature', 21.5)))
  const readings = [reading('temperature', 21.6), reading('humidity', 64)]
  console.log(await send('/api/v1/ingest/batch', { readings }))
} catch (refusal) {
  console.error(refusal.message)
  process.exitCode = 1
}
