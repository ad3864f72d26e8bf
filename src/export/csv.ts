/**
 * Writes CSV by RFC 4180: a comma between cells, CR LF after each row, and quotes around a cell that needs them. A spreadsheet
 * runs a text that begins like a formula. So such a text gets an apostrophe in front, which spreadsheets do not show. In some countries,
 * spreadsheets split rows at semicolons, and then ignore our quotes. So a formula after a semicolon, a tab or a line break gets an apostrophe too.
 */

/** `null` is an empty cell. A number stays a number, even a negative one, because no number is a formula. */
export type Cell = string | number | null

/** Besides the ASCII characters, some spreadsheets accept their full-width forms. */
const formulaBegin = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=["\s]{0,8}[=+\-@\uff1d\uff0b\uff0d\uff20])/g
const mustBeQuoted = /[",\r\n]/

export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`

const cellText = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number') return Object.is(cell, -0) ? '-0' : String(cell)
  const safe = cell.replace(formulaBegin, "'")
  return mustBeQuoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
