/** Spreadsheets run a cell that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * Returns a row of a CSV file according to RFC 4180. Cells that a spreadsheet would run as a formula begin with an
 * apostrophe.
 */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // A negative number is no formula.
  const safe = FORMULA.test(text) && typeof value !== 'number' ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
