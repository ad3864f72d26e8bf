/**
 * What requests with a valid key made the service do since it started. Plain counters, so that a test can say how much work
 * a request may cause without measuring time.
 */
export type IngestWork = {
  /** Bodies that a route began to read. */
  bodiesRead: number
  /** Bodies that were handed to gunzip. */
  bodiesUnpacked: number
  /** Bytes whose structure was looked at. */
  bytesLookedAt: number
  /** Bodies that were handed to `JSON.parse`. */
  bodiesParsed: number
}

export const noWork = (): IngestWork => ({ bodiesRead: 0, bodiesUnpacked: 0, bytesLookedAt: 0, bodiesParsed: 0 })
