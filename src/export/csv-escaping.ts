/**
 * RFC 4180. A spreadsheet runs a text that begins like a formula. So it gets an apostrophe in front, which spreadsheets do
 * not show. Some split rows at semicolons, and ignore our quotes. So a formula after a semicolon, a tab or a line break
 * gets an apostrophe too.
 */

/** No number is a formula, even a negative one. */
export type Cell = string | number | null

/** Some spreadsheets also accept the full-width forms. */
const formulaBegin = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=["\s]{0,8}[=+\-@\uff1d\uff0b\uff0d\uff20])/g
const mustBeQuoted = /[",\r\n]/

export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`

const cellText = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number') return Object.is(cell, -0) ? '-0' : String(cell)
  const safe = cell.replace(formulaBegin, "'")
  return mustBeQuoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
