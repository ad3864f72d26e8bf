import type { LogItem } from '../../../src/domain/reading/recorded-run.ts'
import { nextTurn } from '../../../src/log/pages-of-log.ts'
import type { Source } from '../../../src/log/source.ts'

/** Reads pages from the position on until the source has no more, and has come up to `upTo`, which a subscription can still bring. */
export const itemsAfter = async (source: Source, position: number | null, upTo = -1): Promise<readonly LogItem[]> => {
  const items: LogItem[] = []
  let after = position
  for (;;) {
    const page = await source.after(after)
    items.push(...page.items)
    after = page.scannedTo
    if (page.atEnd && (after ?? -1) >= upTo) return items
    await nextTurn()
  }
}
