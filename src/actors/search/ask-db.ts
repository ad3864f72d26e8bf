import type { ModelProgress } from '../../derived/follower-messages.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import {
  AskBusy,
  AskUnusable,
  type EventPlace,
  type FoundPlaces,
  type HourCount,
  type KeyDay,
  type KeyDaysWanted,
  type KeyLoads,
  type KeyLoadsWanted,
  type MinuteCount,
  type MinutePosition,
  type PlacePage,
  type RacksOfKeys,
  type RefusalSum,
  type SeenRack,
} from '../../log/ask-index.ts'

/**
 * Each look-up throws AskUnusable if the file is damaged, which is then built again, or AskBusy if another program has
 * locked it.
 */
export type Ask = {
  progress(): Promise<ModelProgress>
  find(filter: LogFilter, page: PlacePage): Promise<FoundPlaces>
  placesOfId(id: string): Promise<readonly EventPlace[]>
  placeAt(position: number): Promise<EventPlace | null>
  positionOfMinute(minute: number): Promise<MinutePosition | null>
  minuteCounts(cellar: string | null, fromMinute: number, toMinute: number): Promise<readonly MinuteCount[]>
  hourCounts(key: string, fromHour: number, toHour: number): Promise<readonly HourCount[]>
  /** Sums of the hours from `fromHour` on, the most frequent keys first. */
  refusalsOfCellar(cellar: string, fromHour: number, limit: number): Promise<readonly RefusalSum[]>
  keyLoads(wanted: KeyLoadsWanted): Promise<KeyLoads>
  keyDays(wanted: KeyDaysWanted): Promise<readonly KeyDay[]>
  /** At most `askRackKeysMax` keys. */
  racksOfKeys(keyIds: readonly string[]): Promise<RacksOfKeys>
  /** Those of `keys` that sent readings of a rack with this name, the latest first. */
  keysOfRack(rack: string, keys: readonly string[]): Promise<readonly SeenRack[]>
}

/** `otherwise` also if `ask.db` turns out to be damaged or locked. It is then built again. */
export const ifUsable = async <T>(ask: Ask | null, otherwise: T, read: (ask: Ask) => Promise<T>): Promise<T> => {
  if (ask === null) return otherwise
  try {
    return await read(ask)
  } catch (thrown) {
    if (thrown instanceof AskUnusable || thrown instanceof AskBusy) return otherwise
    throw thrown
  }
}
