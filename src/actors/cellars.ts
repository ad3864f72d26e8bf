import type { CellarPolicy, Limit } from '../domain/events.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../domain/refusal.ts'
import { cellarStream } from '../domain/streams.ts'
import { invalidField, parseCellar, parseTitle } from '../domain/text.ts'
import { keyLimitReadingsMax, keyWindowMsMax, keyWindowMsMin } from '../limits.ts'
import type { CellarActor } from './cellar-actor.ts'
import type { Cellars } from './core.ts'
import type { Registry } from './registry.ts'

/** The commands to cellars: each is checked for what its fields may hold, then handed to its cellar's actor. */
export const createCellars = (actors: Registry<CellarActor>): Cellars => ({
  create: async (input, asker) => {
    const cellar = parseCellar(input.cellar)
    if (!cellar.ok) return cellar
    const title = parseTitle(input.title)
    if (!title.ok) return title
    const command = { type: 'CreateCellar', cellar: cellar.value, title: title.value || cellar.value } as const
    return actors.get(cellarStream(cellar.value))?.change(command, asker) ?? busy
  },

  rename: async (cellar, text, asker) => {
    const title = parseTitle(text)
    if (!title.ok) return title
    return (
      actors.get(cellarStream(cellar))?.change({ type: 'RenameCellar', title: title.value || cellar }, asker) ?? busy
    )
  },

  changePolicy: async (cellar, input, asker) => {
    const policy = parsePolicy(input)
    if (!policy.ok) return policy
    return actors.get(cellarStream(cellar))?.change({ type: 'ChangeCellarPolicy', policy: policy.value }, asker) ?? busy
  },
})

export const busy = refused({ kind: 'busy' } as const)

/** A limit within the bounds of every limit; `null` is none of its own. */
export const parseLimitWithin = (limit: Limit | null): Outcome<Limit | null, CommandRefusal> => {
  if (limit === null) return done(null)
  const { readings, windowMs } = limit
  if (!Number.isInteger(readings) || readings < 1 || readings > keyLimitReadingsMax) {
    return invalidField('limit', `The limit must be 1 to ${keyLimitReadingsMax} readings, a whole number.`)
  }
  if (!Number.isInteger(windowMs) || windowMs < keyWindowMsMin || windowMs > keyWindowMsMax) {
    const [min, max] = [keyWindowMsMin / 1_000, keyWindowMsMax / 1_000]
    return invalidField('limit', `The window of the limit must be ${min} to ${max} seconds.`)
  }
  return done({ readings, windowMs })
}

const parsePolicy = (policy: CellarPolicy): Outcome<CellarPolicy, CommandRefusal> => {
  const limit = parseLimitWithin(policy.limit)
  if (!limit.ok) return limit
  for (const field of ['readingAgeMsMax', 'readingAheadMsMax'] as const) {
    const ms = policy[field]
    if (ms !== null && !(Number.isSafeInteger(ms) && ms >= 0)) {
      return invalidField(field, 'The bound must be whole milliseconds, 0 or more.')
    }
  }
  return done({ ...policy, limit: limit.value })
}
