import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** An even number of values has two middle ones: this returns the lower, so the result is a measured value. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('Cannot take the median of nothing')
  return middle
}

export const percentile = (values: readonly number[], percent: number): number => {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)]
  if (value === undefined) throw new Error('Cannot take a percentile of nothing')
  return value
}

/** Returns a Markdown table. The first row is its head. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const columns = rows[0]?.length ?? 0
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return rows.flatMap((row, index) => (index === 0 ? [line(row), rule] : [line(row)])).join('\n')
}

export const folderBytes = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
