import { lineId } from '../../domain/attention/attention-lines.ts'
import { afterWithin } from '../../domain/attention/silence-rules.ts'
import { done, refused } from '../../domain/refusal.ts'
import { cellarStream } from '../../domain/stream-names.ts'
import { invalidField, parseKeg } from '../../domain/text.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Attention } from '../core-interface.ts'
import type { Node } from '../node.ts'
import { busy } from '../registry.ts'
import { restMsMax } from './attention-records.ts'

export const createAttention = ({ clock }: ActorContext, node: Node): Attention => ({
  current: () => node.attention.current(),

  more: () => node.attention.more(),

  load: () => node.attention.loadAll(),

  setRule: async (cellar, { rack, keg, after }, asker) => {
    const wrong = [
      rack === null ? done(null) : parseKeg(rack, 'rack'),
      keg === null ? done(null) : parseKeg(keg, 'keg'),
    ]
    for (const name of wrong) if (!name.ok) return name
    const within = afterWithin(after)
    if (!within.ok) return within
    const command = { type: 'SetSilenceRule', rack, keg, after } as const
    return node.cellars.get(cellarStream(cellar))?.change(command, asker) ?? busy
  },

  rest: async ({ cellar, ...scope }, untilMs, asker) => {
    const nowMs = clock.now()
    if (!(untilMs <= nowMs + restMsMax)) return invalidField('until', 'A line can rest for at most a year.')
    const isThere = node.attention.current().some((one) => one.cellar === cellar && lineId(one.line) === lineId(scope))
    if (!isThere) return refused({ kind: 'attention_line_not_found' })
    const scopes = untilMs > nowMs ? [scope] : node.attention.restsOf(cellar, scope, nowMs)
    for (const { kind, rack, keg, keyId, node: named } of scopes) {
      const data = {
        cellar,
        kind,
        ...(rack !== undefined && { rack }),
        ...(keg !== undefined && { keg }),
        ...(keyId !== undefined && { keyId }),
        ...(named !== undefined && { node: named }),
        untilMs: Math.max(0, Math.floor(untilMs)),
      }
      const rested = await node.restRecords.append({ type: 'AttentionRested', data }, asker)
      if (!rested.ok) return rested
      node.attention.rested(data, asker)
    }
    return done(null)
  },
})
