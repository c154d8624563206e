import { CliError } from './cli-error.ts'

/** Output formats. */
export const FORMATS = ['table', 'json', 'csv', 'ids'] as const

/** Minimum width of the last column of a table, in characters. */
const NARROWEST = 10

type Row = Readonly<Record<string, string | number | boolean | null>>

/**
 * Writes rows in a format. `ids` writes only the first column, separated by spaces.
 *
 * In a terminal, tables are cut to its width; in a file or a pipe, they are not.
 */
export function printRows(
  rows: readonly Row[],
  columns: readonly string[],
  format: string,
  {
    write = (text: string) => void process.stdout.write(text),
    width = process.stdout.columns ?? Number.POSITIVE_INFINITY,
  } = {},
): void {
  const [first = ''] = columns
  if (format === 'json') write(`${JSON.stringify(rows, null, 2)}\n`)
  else if (format === 'csv') write(`${[columns, ...cellsOf(rows, columns)].map(csvLine).join('\n')}\n`)
  else if (format === 'ids') write(`${rows.map((row) => String(row[first])).join(' ')}\n`)
  else if (format === 'table') write(table(rows, columns, width))
  else throw new CliError(2, `Unknown format "${format}". Use one of ${FORMATS.join(', ')}.`)
}

/** Formats a time for a cell, in UTC. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

function cellsOf(rows: readonly Row[], columns: readonly string[]): string[][] {
  // Control characters, for example in a user agent, must not reach the terminal.
  return rows.map((row) => columns.map((column) => String(row[column] ?? '').replaceAll(/\p{Cc}/gu, ' ')))
}

function csvLine(cells: readonly string[]): string {
  // A spreadsheet would run a cell that looks like a formula, and clients can choose their user agent.
  const safe = cells.map((cell) => (/^[=+\-@]/.test(cell) ? `'${cell}` : cell))
  return safe.map((cell) => (/[",\s]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')
}

/** Cuts the last column if the terminal is narrow. If that is not enough, prints each row as a block. */
function table(rows: readonly Row[], columns: readonly string[], width: number): string {
  const names = columns.map((column) => column.toUpperCase())
  const cells = cellsOf(rows, columns)
  const widths = names.map((_, index) => Math.max(...[names, ...cells].map((line) => line[index]?.length ?? 0)))
  const last = widths.pop() ?? 0
  const room = width - widths.reduce((sum, column) => sum + column + 2, 0)
  if (room < Math.min(last, NARROWEST)) return blocks(names, cells, width)
  widths.push(Math.min(last, room))
  const line = (line: readonly string[]) => line.map((cell, index) => sized(cell, widths[index] ?? 0)).join('  ')
  return `${[names, ...cells].map((cells) => line(cells).trimEnd()).join('\n')}\n`
}

function blocks(names: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const label = Math.max(...names.map((name) => name.length)) + 2
  // The first cell identifies the row and people may copy it, so it is never cut.
  const line = (cell: string, index: number) =>
    (names[index]?.padEnd(label) ?? '') + (index === 0 ? cell : sized(cell, Math.max(NARROWEST, width - label)))
  return rows.map((cells) => `${cells.map((cell, index) => line(cell, index).trimEnd()).join('\n')}\n`).join('\n')
}

function sized(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}
