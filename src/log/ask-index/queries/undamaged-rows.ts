import { AskUnusable } from '../../ask-index.ts'

/** Returns the rows. @throws AskUnusable if one of them does not match its checksum */
export const undamaged = <Row extends { readonly checksum: number }>(
  rows: readonly Row[],
  checksumOf: (row: Row) => number,
): readonly Row[] => {
  for (const row of rows) {
    if (checksumOf(row) !== row.checksum) throw new AskUnusable('Cannot use ask.db: a row does not match its checksum')
  }
  return rows
}
