import { ColumnsBuilder, Name, type ReadingColumns, textToKeep } from '../../../src/domain/reading/columns.ts'
import type { Reading } from '../../../src/domain/reading/reading.ts'
import { parseTimestamp } from '../../../src/domain/reading/timestamp.ts'

/** Makes columns of objects. All `readings` must be valid and have the same cellar. */
export const columnsOf = (readings: readonly Reading[]): ReadingColumns => {
  const builder = new ColumnsBuilder()
  builder.begin(new Name(readings[0]?.cellar ?? ''))
  for (const { rack, keg, value, timestamp } of readings) {
    const timeMs = parseTimestamp(timestamp)
    if (typeof timeMs === 'string') throw new Error(`Cannot hold "${timestamp}": it is no timestamp`)
    builder.push(new Name(rack), new Name(keg), value, timeMs, textToKeep(timestamp))
  }
  return builder.finish()
}
