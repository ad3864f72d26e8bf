import { Name } from '../../domain/reading/columns.ts'
import type { Reading } from '../../domain/reading/fields.ts'
import { NameCache } from '../../domain/reading/name-cache.ts'
import { cellarRefusal, type ParsedReading, parseReading } from '../../domain/reading/reading.ts'
import { done, type Outcome, type ReadingRefusal } from '../../domain/refusal.ts'
import type { IngestWork } from './api-call.ts'
import { parseJson } from './json/parse-json.ts'
import { odd, pastSpace, ReadingScanner } from './scan-reading.ts'

/** `names`: the reading, whose names are valid. */
type OtherCellar = { readonly ok: false; readonly refusal: ReadingRefusal; readonly names: Reading }

export class ReadingParser {
  readonly #names: NameCache
  readonly #scanner: ReadingScanner
  #cellar = new Name('')

  constructor(names: NameCache = new NameCache()) {
    this.#names = names
    this.#scanner = new ReadingScanner(names)
  }

  /** `cellar` is the cellar of the key. The call can overwrite parts of `body`. */
  parse(body: Uint8Array, cellar: string, work: IngestWork): Outcome<ParsedReading, ReadingRefusal> | OtherCellar {
    const scanned = this.scan(body, cellar)
    if (scanned === null) return this.parseWhole(body, cellar, work)
    work.bytesLookedAt += body.byteLength
    work.bodiesParsed += 1
    return done(scanned)
  }

  /** `null` for a body in another form, which can be valid all the same. */
  scan(body: Uint8Array, cellar: string): ParsedReading | null {
    if (this.#cellar.text !== cellar) this.#cellar = this.#names.named(cellar)
    const scanner = this.#scanner
    scanner.begin(body, this.#cellar.utf8)
    const end = scanner.scan(pastSpace(body, 0))
    if (end === odd || pastSpace(body, end) !== body.length) return null
    return { reading: scanner.reading(cellar), timestampMs: scanner.timeMs }
  }

  parseWhole(body: Uint8Array, cellar: string, work: IngestWork): Outcome<ParsedReading, ReadingRefusal> | OtherCellar {
    const json = parseJson(body, 'reading', work)
    const parsed = json.ok ? parseReading(json.value) : json
    if (!parsed.ok) return parsed
    const { reading } = parsed.value
    const refusal = cellarRefusal(reading, cellar)
    return refusal === null ? parsed : { ok: false, refusal, names: reading }
  }
}
