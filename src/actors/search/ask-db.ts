import type { ModelProgress } from '../../derived/follower-messages.ts'
import type { RecordedEvent } from '../../domain/events.ts'
import type { LogFilter } from '../../domain/search/event-filter.ts'
import type {
  EventPlace,
  FoundPlaces,
  HourCount,
  MinuteCount,
  MinutePosition,
  PlacePage,
  RefusalSum,
  SeenRack,
} from '../../log/ask-index.ts'

export type AskProgress = ModelProgress

/**
 * Each look-up throws AskUnusable if the file is damaged, which is then built again, or AskBusy if another program has
 * locked it.
 */
export type Ask = {
  progress(): Promise<AskProgress>
  find(filter: LogFilter, page: PlacePage): Promise<FoundPlaces>
  placesOfId(id: string): Promise<readonly EventPlace[]>
  placeAt(position: number): Promise<EventPlace | null>
  positionOfMinute(minute: number): Promise<MinutePosition | null>
  minuteCounts(cellar: string | null, fromMinute: number, toMinute: number): Promise<readonly MinuteCount[]>
  hourCounts(key: string, fromHour: number, toHour: number): Promise<readonly HourCount[]>
  /** Sums of the hours from `fromHour` on, the most frequent keys first. */
  refusalsOfCellar(cellar: string, fromHour: number, limit: number): Promise<readonly RefusalSum[]>
  racksLike(pattern: RegExp, limit: number): Promise<readonly SeenRack[]>
  /** In the order of `places`, without purged events. Rejects like a read of the log. */
  eventsAt(places: readonly EventPlace[]): Promise<readonly RecordedEvent[]>
}
