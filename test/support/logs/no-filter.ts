import type { EventFilter } from '../../../src/actors/search/read-filtered.ts'

/** Lets every event through. */
export const everything: EventFilter = {
  stream: null,
  type: null,
  kind: null,
  actor: null,
  cellar: null,
  key: null,
  from: null,
  to: null,
  since: null,
  until: null,
}
