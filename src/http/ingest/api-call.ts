import type { Accepted, Checked, Core } from '../../actors/core-interface.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { KeyState } from '../../domain/key.ts'
import type { Outcome, ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import type { RequestFigures } from '../request-figures.ts'
import type { RequestLines } from '../request-lines.ts'
import type { UnfinishedBodies } from '../unfinished-bodies.ts'
import type { CostBudgets } from './cost-budgets.ts'
import type { LastRefusals } from './last-refusals.ts'
import type { RefusalLines } from './refusal-lines.ts'

const lastChecksMax = 10_000

export type ApiDeps = {
  readonly core: Core
  readonly lastRefusals: LastRefusals
  readonly lastChecks: LastChecks
  readonly costBudgets: CostBudgets
  readonly work: IngestWork
  readonly requests: RequestFigures
  readonly lines: RequestLines
  readonly refusalLines: RefusalLines
  /** Finding the address is too slow for each reading, so only a refusal without a known key calls this. */
  readonly addressOf: (request: Request) => string
  readonly bodies: UnfinishedBodies
}

/** By key id: when (ms) this node last answered a check of readings that would be stored. Only in memory. */
export type LastChecks = BoundedMap<string, number>

export const noChecks = (): LastChecks => new BoundedMap(lastChecksMax)

export type IngestWork = {
  bodiesRead: number
  bodiesUnpacked: number
  bytesLookedAt: number
  bodiesParsed: number
}

export const noWork = (): IngestWork => ({ bodiesRead: 0, bodiesUnpacked: 0, bytesLookedAt: 0, bodiesParsed: 0 })

export type ApiCall = {
  readonly request: Request
  readonly requestId: string
  readonly key: KeyState
  readonly asked: AskedRoute
  /** When the body had arrived, by `performance.now`. 0 until then. */
  arrivedMs: number
  /** The size of the unpacked body. 0 until the body is read. */
  bodyBytes: number
  /** The size of the packed body. 0 for a plain body. */
  packedBytes: number
  isCharged: boolean
  /** Of a single reading, as soon as it is parsed, for the summary of refusals. */
  names: { readonly rack: string; readonly keg: string } | null
}

export type AcceptedBatch = { readonly accepted: Accepted; readonly rejected: readonly RejectedItem[] }

/** At least one reading would be stored. `rejected` is `null` for a single reading. */
export type CheckedReadings = {
  readonly count: number
  readonly accepted: Checked
  readonly rejected: readonly RejectedItem[] | null
}

export type Stored = Outcome<Accepted | AcceptedBatch, ReadingRefusal>
export type ApiResult = Stored | Outcome<CheckedReadings, ReadingRefusal> | 'client_gone'
export type ApiRoute = (call: ApiCall) => ApiResult | Promise<ApiResult>

export type AskedRoute = {
  readonly route: ApiRoute
  /** False for a check of readings, and for paths without readings. */
  readonly isStoring: boolean
  /** Of `RequestFigures`: answers of this route by status. */
  readonly codes: Map<number, number>
}
