import { limitWithin, retentionWithin } from '../../domain/amounts.ts'
import type { CellarPolicy } from '../../domain/events.ts'
import { type CommandRefusal, done, type Outcome } from '../../domain/refusal.ts'
import { cellarStream } from '../../domain/stream-names.ts'
import { invalidField, parseCellar, parseKeg, parseTitle, parseUnit } from '../../domain/text.ts'
import type { Cellars } from '../core-interface.ts'
import { busy, type Registry } from '../registry.ts'
import type { CellarActor } from './cellar-actor.ts'

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

  setUnit: async (cellar, input, asker) => {
    const keg = parseKeg(input.keg, 'keg')
    if (!keg.ok) return keg
    const unit = parseUnit(input.unit)
    if (!unit.ok) return unit
    const command = { type: 'SetUnit', keg: keg.value, unit: unit.value } as const
    return actors.get(cellarStream(cellar))?.change(command, asker) ?? busy
  },

  changePolicy: async (cellar, input, asker) => {
    const changes = parseChanges(input)
    if (!changes.ok) return changes
    return (
      actors.get(cellarStream(cellar))?.change({ type: 'ChangeCellarPolicy', changes: changes.value }, asker) ?? busy
    )
  },
})

const parseChanges = (changes: Partial<CellarPolicy>): Outcome<Partial<CellarPolicy>, CommandRefusal> => {
  const limit = limitWithin(changes.limit ?? null)
  if (!limit.ok) return limit
  for (const field of ['readingAgeMsMax', 'readingAheadMsMax'] as const) {
    const ms = changes[field] ?? null
    if (ms !== null && !(Number.isSafeInteger(ms) && ms >= 0)) {
      return invalidField(field, 'The bound must be whole milliseconds, 0 or more.')
    }
  }
  const retention = retentionWithin(changes.retentionMs ?? null)
  return retention.ok ? done(changes) : retention
}
