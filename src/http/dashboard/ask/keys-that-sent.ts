import { rackKeysMax } from '../../../../views/log/log-types.ts'
import { answerOr } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import { minuteMs } from '../../../domain/calendar.ts'
import type { LogFilter } from '../../../domain/search/event-filter.ts'

type Asker = { readonly core: Core; readonly owner: string }

export type RackWanted = { readonly cellar: string; readonly rack: string }

/** `lastMs` is the beginning of the minute of its last reading. */
export type SendingKey = { readonly keyId: string; readonly lastMs: number }

/** The last one first. `null` if `ask.db` cannot be used. */
export const keysThatSent = async (
  { core, owner }: Asker,
  { cellar, rack }: RackWanted,
): Promise<readonly SendingKey[] | null> => {
  // Racks of several cellars can have the same name.
  const isOfCellar = (keyId: string): boolean => core.projections.keys.get(keyId)?.cellar === cellar
  const seen = answerOr(await core.questions.ask('keysOfRack', rack, { owner }), null)
  const sent = seen?.filter(({ key }) => isOfCellar(key)).slice(0, rackKeysMax) ?? null
  return sent?.map(({ key, minute }) => ({ keyId: key, lastMs: minute * minuteMs })) ?? null
}

/** A rack without a cellar has no keys. */
export const withKeysOfRack = async <Filter extends LogFilter>(asker: Asker, filter: Filter): Promise<Filter> => {
  const { rack, cellar } = filter
  if (rack === undefined || cellar === null) return filter
  const sent = await keysThatSent(asker, { cellar, rack: rack.name })
  return { ...filter, rack: { ...rack, keys: sent?.map(({ keyId }) => keyId) ?? null } }
}
