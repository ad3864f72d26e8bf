import { rackKeysMax } from '../../../../views/log/log-types.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'

type Asker = { readonly core: Core; readonly owner: string }

export type RackWanted = { readonly cellar: string; readonly rack: string }

/** `lastMs` is the beginning of the minute of its last reading. */
export type SendingKey = { readonly keyId: string; readonly lastMs: number }

/** The last one first. `null` if `ask.db` cannot be used, or if it is behind: it can lack a key. */
export const keysThatSent = async (
  { core, owner }: Asker,
  { cellar, rack }: RackWanted,
): Promise<readonly SendingKey[] | null> => {
  // Racks of several cellars can have the same name.
  const isOfCellar = (keyId: string): boolean => core.projections.keys.get(keyId)?.cellar === cellar
  const told = await core.questions.ask('keysOfRack', rack, { owner })
  if (told.kind !== 'answered' || told.isBehind) return null
  const sent = told.answer.filter(({ key }) => isOfCellar(key))
  return sent.map(({ key, minute }) => ({ keyId: key, lastMs: minute * minuteMs }))
}

/** A rack without a cellar has no keys. */
export const withKeysOfRack = async <Filter extends LogFilter>(
  asker: Asker,
  filter: Filter,
  keysMax: number = rackKeysMax,
): Promise<Filter> => {
  const { rack, cellar } = filter
  if (rack === undefined || cellar === null) return filter
  const sent = await keysThatSent(asker, { cellar, rack: rack.name })
  return { ...filter, rack: { ...rack, keys: sent?.slice(0, keysMax).map(({ keyId }) => keyId) ?? null } }
}
