import { ColumnsBuilder, Name, type ReadingColumns, textToKeep } from '../../../src/domain/reading/columns.ts'
import type { Reading } from '../../../src/domain/reading/reading.ts'
import { parseTimestamp } from '../../../src/domain/reading/timestamp.ts'

/**
 * Makes columns of objects. All `readings` must be valid and have the same cellar. By default, each reading gets names of its own,
 * so equal names are different objects.
 */
export const columnsOf = (
  readings: readonly Reading[],
  nameOf: (text: string) => Name = (text) => new Name(text),
): ReadingColumns => {
  const builder = new ColumnsBuilder()
  builder.begin(nameOf(readings[0]?.cellar ?? ''))
  for (const { rack, keg, value, timestamp } of readings) {
    const timeMs = parseTimestamp(timestamp)
    if (typeof timeMs === 'string') throw new Error(`Cannot hold "${timestamp}": it is no timestamp`)
    builder.push(nameOf(rack), nameOf(keg), value, timeMs, textToKeep(timestamp))
  }
  return builder.finish()
}
