/** Finds events with `ask.db`. Each function throws AskUnusable, AskBusy, Outage and UndecodableEvent. */
import type { RecordedEvent } from '../../domain/events.ts'
import { anyEvent } from '../../domain/search/event-filter.ts'
import { logReadPageEvents, recordedSkewMsMax, refusalSummariesSearchedMax } from '../../limits.ts'
import type { Ask } from './ask-db.ts'

/** Returns the event with this id, or all events of the request with this id, except readings. `id` is in lower case. */
export const changesOfId = async (ask: Ask, id: string): Promise<readonly RecordedEvent[]> => {
  await ask.upTo()
  const events = await ask.eventsAt(await ask.placesOfId(id))
  return events.filter((event) => event.id === id || event.metadata.requestId === id)
}

export type OfRefusedRequest =
  /** The summary has this request among its samples. */
  | { readonly kind: 'sample'; readonly summary: RecordedEvent<'ReadingsRefused'> }
  /** One of these summaries counts the request, if it was refused. Empty: no request was refused then. */
  | { readonly kind: 'summaries'; readonly summaries: readonly RecordedEvent<'ReadingsRefused'>[] }

/**
 * Finds the refusal of a request by the instant that its id says. The summary's period has it.
 */
export const refusalOfRequest = async (ask: Ask, requestId: string, atMs: number): Promise<OfRefusedRequest> => {
  await ask.upTo()
  // The id is made when the request begins. The request is refused later, when its body has come.
  const filter = { ...anyEvent, type: 'ReadingsRefused', since: atMs, until: atMs + recordedSkewMsMax + 1 } as const
  const summaries: RecordedEvent<'ReadingsRefused'>[] = []
  let from: number | null = null
  for (let searched = 0; searched < refusalSummariesSearchedMax; searched += logReadPageEvents) {
    const page = await ask.find(filter, { direction: 'forwards', from, limit: logReadPageEvents })
    for (const event of await ask.eventsAt(page.places)) {
      if (event.type !== 'ReadingsRefused') continue
      if (event.data.samples.some((sample) => sample.requestId === requestId)) return { kind: 'sample', summary: event }
      summaries.push(event)
    }
    if (page.lookedTo === null) break
    from = page.lookedTo
  }
  return { kind: 'summaries', summaries }
}
