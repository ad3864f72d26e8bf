import type { Schedule } from '../../schedule.ts'
import { networkOf } from '../client-address.ts'
import { refusalLineCountersMax, refusalLineNamesMax } from '../http-bounds.ts'
import type { RequestLines } from '../request-lines.ts'
import type { TraceContext } from '../trace-context.ts'
import { FrequentNames } from './frequent-names.ts'

export const refusalLineMs = 1_000

export type RefusedRequest = TraceContext & {
  readonly requestId: string
  readonly status: number
  readonly code: string
} & ({ readonly keyId: string } | { readonly keyId: null; readonly address: string })

/** One line a second, because anyone can cause refusals (docs/decisions/019-bounded-lines-for-refusals.md). */
export class RefusalLines {
  readonly #lines: RequestLines
  readonly #schedule: Schedule
  #requests = 0
  /** Needs no bound: the codes are a fixed list. */
  readonly #codes = new Map<string, number>()
  readonly #keys = new FrequentNames(refusalLineCountersMax)
  readonly #addresses = new FrequentNames(refusalLineCountersMax)
  #cancel: (() => void) | null = null

  constructor(lines: RequestLines, schedule: Schedule) {
    this.#lines = lines
    this.#schedule = schedule
  }

  get counters(): number {
    return this.#keys.size + this.#addresses.size
  }

  note(refused: RefusedRequest): void {
    this.#lines.debug('request refused', refused)
    this.#requests += 1
    this.#codes.set(refused.code, (this.#codes.get(refused.code) ?? 0) + 1)
    if (refused.keyId !== null) this.#keys.count(refused.keyId)
    else this.#addresses.count(refused.address === '' ? 'unknown' : networkOf(refused.address))
    this.#cancel ??= this.#schedule.after(refusalLineMs, () => this.#write())
  }

  close(): void {
    this.#cancel?.()
    if (this.#requests > 0) this.#write()
  }

  #write(): void {
    this.#cancel = null
    this.#lines.info('requests refused', {
      requests: this.#requests,
      codes: Object.fromEntries(this.#codes),
      keys: this.#keys.top(refusalLineNamesMax).map(([keyId, requests]) => ({ keyId, requests })),
      addresses: this.#addresses.top(refusalLineNamesMax).map(([address, requests]) => ({ address, requests })),
    })
    this.#requests = 0
    this.#codes.clear()
    this.#keys.clear()
    this.#addresses.clear()
  }
}
