import { BatchItems, type ParsedBatch, parseBatch } from '../../domain/reading/judge-batch.ts'
import { NameCache } from '../../domain/reading/name-cache.ts'
import { done, type Outcome, type ReadingRefusal } from '../../domain/refusal.ts'
import type { IngestWork } from './api-call.ts'
import { parseJson } from './json/parse-json.ts'
import { BatchScanner } from './scan-batch.ts'

export class BatchParser {
  readonly #items: BatchItems
  readonly #scanner: BatchScanner

  constructor(names: NameCache = new NameCache()) {
    this.#items = new BatchItems(names)
    this.#scanner = new BatchScanner(this.#items, names)
  }

  /** `cellar` is the cellar of the key. The call can overwrite parts of `body`. */
  parse(body: Uint8Array, cellar: string, work: IngestWork): Outcome<ParsedBatch, ReadingRefusal> {
    const scanned = this.#scanner.scan(body, cellar)
    if (scanned === null) return this.parseWhole(body, cellar, work)
    work.bytesLookedAt += body.byteLength
    work.bodiesParsed += 1
    return done(scanned)
  }

  /**
   * Slower than the scanner, but reads every body, and says why one is refused. For a body that the scanner can read, both
   * give the same result.
   */
  parseWhole(body: Uint8Array, cellar: string, work: IngestWork): Outcome<ParsedBatch, ReadingRefusal> {
    const json = parseJson(body, 'batch', work)
    const items = json.ok ? parseBatch(json.value) : json
    if (!items.ok) return items
    this.#items.begin(cellar)
    for (const item of items.value) this.#items.judge(item)
    return done(this.#items.finish())
  }
}
