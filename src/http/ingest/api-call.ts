import type { Accepted, Checked, Core } from '../../actors/core-interface.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { KeyState } from '../../domain/key.ts'
import type { Outcome, ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import type { RequestLines } from '../request-lines.ts'
import type { UnfinishedBodies } from '../unfinished-bodies.ts'
import type { CostBudgets } from './cost-budgets.ts'
import type { LastRefusals } from './last-refusals.ts'
import type { RefusalLines } from './refusal-lines.ts'

/** Keys whose last check stays in memory. A further key replaces the key that was checked longest ago. */
const lastChecksMax = 10_000

export type ApiDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly lastChecks: LastChecks
  readonly costBudgets: CostBudgets
  readonly work: IngestWork
  readonly lines: RequestLines
  readonly refusalLines: RefusalLines
  /**
   * Finds the client's IP address, for the log line of a refusal without a known key. The search is too slow to run for each
   * reading.
   */
  readonly addressOf: (request: Request) => string
  readonly bodies: UnfinishedBodies
}

/**
 * By key id: when (ms) this node last answered a check of readings that would be stored. For the key's page. Kept only in memory.
 */
export type LastChecks = BoundedMap<string, number>

export const noChecks = (): LastChecks => new BoundedMap(lastChecksMax)

/** Counts the work for requests with a valid key, so that tests can bound this work without measuring time. */
export type IngestWork = {
  bodiesRead: number
  bodiesUnpacked: number
  bytesLookedAt: number
  bodiesParsed: number
}

export const noWork = (): IngestWork => ({ bodiesRead: 0, bodiesUnpacked: 0, bytesLookedAt: 0, bodiesParsed: 0 })

/** A request whose API key is valid. */
export type ApiCall = {
  readonly request: Request
  readonly requestId: string
  readonly key: KeyState
  /** Size of the unpacked body, for the key's cost budget. 0 until the body is read. */
  bodyBytes: number
  /** Size of a gzip body before it is unpacked. 0 for a plain body. */
  packedBytes: number
  isCharged: boolean
  /** The names in a single reading, as soon as it is parsed. If the reading is refused, a summary can name them. */
  names: { readonly rack: string; readonly keg: string } | null
}

/** A batch with at least one stored reading. */
export type AcceptedBatch = { readonly accepted: Accepted; readonly rejected: readonly RejectedItem[] }

/** What a check found: at least one reading would be stored. `rejected` is `null` for a single reading. */
export type CheckedReadings = {
  readonly count: number
  readonly accepted: Checked
  readonly rejected: readonly RejectedItem[] | null
}

export type Stored = Outcome<Accepted | AcceptedBatch, ReadingRefusal>
/** `client_gone` means that the client closed the connection before its body was complete. */
export type ApiResult = Stored | Outcome<CheckedReadings, ReadingRefusal> | 'client_gone'
export type ApiRoute = (call: ApiCall) => ApiResult | Promise<ApiResult>
