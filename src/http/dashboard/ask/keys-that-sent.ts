import { rackKeysMax } from '../../../../views/log/log-types.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'

type Asker = { readonly core: Core; readonly owner: string }

/** `key`: only this key is looked for. */
export type RackWanted = { readonly cellar: string; readonly rack: string; readonly key?: string | null }

/** `lastMs` is the beginning of the minute of its last reading. */
export type SendingKey = { readonly keyId: string; readonly lastMs: number }

/** The last one first. `null` if `ask.db` cannot be used, or if it is behind: it can lack a key. */
export const keysThatSent = async (
  { core, owner }: Asker,
  { cellar, rack, key = null }: RackWanted,
): Promise<readonly SendingKey[] | null> => {
  // Racks of several cellars can have the same name.
  const ofCellar = core.projections.keys.ofCellar(cellar).map(({ keyId }) => keyId)
  const keys = key === null ? ofCellar : ofCellar.filter((keyId) => keyId === key)
  const told = await core.questions.ask('keysOfRack', [rack, keys], { owner })
  if (told.kind !== 'answered' || told.isBehind) return null
  return told.answer.map(({ key, minute }) => ({ keyId: key, lastMs: minute * minuteMs }))
}

/** A rack without a cellar has no keys. */
export const withKeysOfRack = async <Filter extends LogFilter>(
  asker: Asker,
  filter: Filter,
  keysMax: number = rackKeysMax,
): Promise<Filter> => {
  const { rack, cellar, key } = filter
  if (rack === undefined || cellar === null) return filter
  const sent = await keysThatSent(asker, { cellar, rack: rack.name, key })
  return { ...filter, rack: { ...rack, keys: sent?.slice(0, keysMax).map(({ keyId }) => keyId) ?? null } }
}
