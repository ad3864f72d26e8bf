import type { LogItem } from '../../../src/domain/reading/recorded-run.ts'
import type { Source } from '../../../src/log/source.ts'

/** Reads pages from the position on until the source has no more. */
export const itemsAfter = async (source: Source, position: number | null): Promise<readonly LogItem[]> => {
  const items: LogItem[] = []
  let after = position
  for (;;) {
    const page = await source.after(after)
    items.push(...page.items)
    after = page.scannedTo
    if (page.atEnd) return items
  }
}
