/**
 * Spreadsheets run a cell that begins with one of these as a formula. Some of them skip white space and invisible
 * characters before it, and take full-width characters for the others.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{DI}]*[=+\-@＝＋－＠])/u

/**
 * Returns a row of a CSV file according to RFC 4180. Cells that a spreadsheet would run as a formula begin with an
 * apostrophe.
 */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '')
  // A negative number is no formula.
  const safe = FORMULA.test(text) && typeof value !== 'number' ? `'${text}` : text
  // In many countries, spreadsheets separate cells with semicolons.
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
