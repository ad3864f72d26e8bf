import { describe, expect, test } from 'bun:test'
import type { Core } from '../../../../src/actors/core-interface.ts'
import { systemEntropy } from '../../../../src/entropy.ts'
import { answerOf, expectRefusal, expectUnauthorized } from '../../../support/answers.ts'
import { startService, validReading } from '../../../support/test-service.ts'

const secret = 'words of a bug, with a path /srv/secret.ts'

/** Replaces commands of the actors, so that a route meets a bug. */
const broken =
  (keys: Partial<Core['keys']>, isIn: Partial<Core> = {}) =>
  (core: Core): Core => ({
    log: core.log,
    clock: core.clock,
    entropy: core.entropy,
    projections: core.projections,
    cellars: core.cellars,
    operators: core.operators,
    refusals: core.refusals,
    attention: core.attention,
    webhooks: core.webhooks,
    recordExport: (data, asker) => core.recordExport(data, asker),
    figures: () => core.figures(),
    indexProgress: () => core.indexProgress(),
    questions: core.questions,
    onFolded: (listener) => core.onFolded(listener),
    drain: () => core.drain(),
    keys: { ...bound(core.keys), ...keys },
    ...isIn,
  })

const bound = ({
  create,
  rotate,
  relabel,
  setLimit,
  setExpiry,
  suspend,
  resume,
  revoke,
  accept,
  acceptIdempotent,
  check,
  knowsIdempotencyKey,
  usage,
}: Core['keys']) => ({
  create,
  rotate,
  relabel,
  setLimit,
  setExpiry,
  suspend,
  resume,
  revoke,
  accept,
  acceptIdempotent,
  check,
  knowsIdempotencyKey,
  usage,
})

const fail = (): never => {
  throw new Error(secret)
}

describe('POST /api/v1/ingest answers 500 INTERNAL_ERROR', () => {
  test.each([
    ['before the body is read', { usage: fail }],
    ['when the reading is handed over', { accept: fail }],
    ['while the reading is being stored', { accept: () => Promise.reject(new Error(secret)) }],
    ['with something that is no error', { accept: () => Promise.reject(secret) }],
  ])('to the request with a bug %s, and logs it', async (_, keys) => {
    let breaks = true
    const service = await startService({
      wrapCore: (core) => {
        const whole = broken({})(core)
        const faulty = broken(keys)(core)
        return {
          ...whole,
          get keys() {
            return breaks ? faulty.keys : whole.keys
          },
        }
      },
    })
    const { key } = await service.createKey()
    const response = await service.post(validReading, key)
    const text = expectRefusal(await answerOf(response), 500, 'INTERNAL_ERROR')
    expect(text).toStartWith('service failed, and confirmed nothing: ')
    expect(text).not.toContain('bug')
    const line = service.lines.find(({ level }) => level === 'error')
    expect(line?.facts).toMatchObject({ requestId: String(response.headers.get('X-Request-Id')) })
    expect(String(Reflect.get(Object(line?.facts), 'error'))).toContain(secret)
    breaks = false
    expect((await service.post(validReading, key)).status).toBe(200)
    await service.stop()
  })

  test('when the answer of a refusal fails, after the key', async () => {
    const service = await startService({ wrapCore: broken({ usage: fail }) })
    const { key } = await service.createKey()
    const lost = await fetch(`${service.url}/api/v1/nothing`, { headers: { 'X-API-Key': key } })
    expectRefusal(await answerOf(lost), 500, 'INTERNAL_ERROR')
    expectUnauthorized(await answerOf(await service.post(validReading, null)), 'API key is required')
    await service.stop()
  })

  test('when nothing works, not even a request id', async () => {
    let breaks = false
    const requestId = (atMs: number) => (breaks ? fail() : systemEntropy.requestId(atMs))
    const service = await startService({
      wrapCore: (core) => broken({}, { entropy: { ...core.entropy, requestId } })(core),
    })
    breaks = true
    const response = await service.post(validReading, null)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('bug')
    await service.stop()
  })
})
