/**
 * All readings use the same object, because one for each would slow down the fold. So nobody may keep a reference to it.
 */
export type Arriving = {
  keyId: string
  revision: number
  position: number
  recordedAt: number
  cellar: number
  rack: string
  keg: string
  value: number
  /** `null` for a text like `2026-03-01T12:00:00Z`, which can be made again from `timeMs`. */
  timestamp: string | null
  timeMs: number
  /** What `timeMs` does not include. */
  nanoseconds: number
}
