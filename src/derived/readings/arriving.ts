/**
 * The reading that is being folded. All readings use the same object, one after the other, because an object for each reading
 * would slow down the fold. So nobody may keep a reference to it.
 */
export type Arriving = {
  keyId: string
  revision: number
  position: number
  recordedAt: number
  /** The number of the cellar. */
  cellar: number
  rack: string
  keg: string
  value: number
  /** `null` for the form `YYYY-MM-DDThh:mm:ssZ`. */
  timestamp: string | null
  timeMs: number
  /** The nanoseconds of the timestamp that `timeMs` does not include. */
  nanoseconds: number
}
