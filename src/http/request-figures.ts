import { Histogram, latencyBounds } from '../histogram.ts'

/** Since the start. A route is a template like `/keys/:keyId`, so their number is bounded. */
export class RequestFigures {
  readonly #codes = new Map<string, Map<number, number>>()
  /** From the header of a request to its answer, of requests whose readings were stored. */
  readonly storeSeconds = new Histogram(latencyBounds)

  /** By route, then by status. */
  get codes(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    return this.#codes
  }

  count(route: string, status: number): void {
    let codes = this.#codes.get(route)
    if (codes === undefined) {
      codes = new Map()
      this.#codes.set(route, codes)
    }
    codes.set(status, (codes.get(status) ?? 0) + 1)
  }
}
