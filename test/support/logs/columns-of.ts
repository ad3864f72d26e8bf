import { ColumnsBuilder, Name, ofBatch, type ReadingColumns } from '../../../src/domain/reading/columns.ts'
import type { Reading } from '../../../src/domain/reading/fields.ts'
import { parseTimestamp } from '../../../src/domain/reading/parse-timestamp.ts'

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
  for (const reading of readings) {
    const { timestamp } = reading
    const timestampMs = parseTimestamp(timestamp)
    if (typeof timestampMs === 'string') throw new Error(`Cannot hold "${timestamp}": it is no timestamp`)
    builder.push(ofBatch({ reading, timestampMs }, nameOf))
  }
  return builder.finish()
}
