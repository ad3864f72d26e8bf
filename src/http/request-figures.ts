import { Histogram, latencyBounds } from '../histogram.ts'
import { deviceCodes } from './problem.ts'

/** No client sees it. A 500 would look like a bug. */
export const clientGoneStatus = 499

/** Since the start. A route is a template like `/keys/:keyId`, so their number is bounded. */
export class RequestFigures {
  readonly #codes = new Map<string, Map<number, number>>()
  /** From the end of the body to the answer, for each stored reading. A repeat stores none. */
  readonly storeSeconds = new Histogram(latencyBounds)
  /** By code: refused requests to store readings, and refused readings of batches. The first one must count as an increase. */
  readonly refused = new Map<string, number>(deviceCodes.map((code) => [code, 0]))

  /** By route, then by status. */
  get codes(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    return this.#codes
  }

  /** Prometheus sees no increase from nothing to 1. So each route has its 0 bugs before the first. */
  know(route: string): Map<number, number> {
    const name = route.replace(/^\/assets\/.*/, '/assets/*')
    const codes = this.#codes.get(name) ?? new Map([[500, 0]])
    this.#codes.set(name, codes)
    return codes
  }

  count(route: string, status: number): void {
    countCode(this.#codes.get(route) ?? this.know(route), status)
  }

  countRefused(code: string, count: number): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + count)
  }
}

export const countCode = (codes: Map<number, number>, status: number): void => {
  codes.set(status, (codes.get(status) ?? 0) + 1)
}
