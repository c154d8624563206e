import { CliError } from './cli-error.ts'

/** How rows are written. */
export const FORMATS = ['table', 'json', 'csv', 'ids'] as const

type Row = Readonly<Record<string, string | number | boolean | null>>

/** Writes rows in a format. `ids` writes the first column alone, separated by blanks. */
export function printRows(
  rows: readonly Row[],
  columns: readonly string[],
  format: string,
  { write = (text: string) => void process.stdout.write(text), width = process.stdout.columns ?? 100 } = {},
): void {
  const [first = ''] = columns
  if (format === 'json') write(`${JSON.stringify(rows, null, 2)}\n`)
  else if (format === 'csv') write(`${[columns, ...cellsOf(rows, columns)].map(csvLine).join('\n')}\n`)
  else if (format === 'ids') write(`${rows.map((row) => String(row[first])).join(' ')}\n`)
  else if (format === 'table') write(table(rows, columns, width))
  else throw new CliError(2, `There is no format "${format}". Use one of ${FORMATS.join(', ')}.`)
}

function cellsOf(rows: readonly Row[], columns: readonly string[]): string[][] {
  // What a user agent or a name says must not move the cursor of somebody's terminal.
  return rows.map((row) => columns.map((column) => String(row[column] ?? '').replaceAll(/\p{Cc}/gu, ' ')))
}

function csvLine(cells: readonly string[]): string {
  return cells.map((cell) => (/[",\s]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')
}

/** The last column gives way when the terminal is too narrow. */
function table(rows: readonly Row[], columns: readonly string[], width: number): string {
  const lines = [columns.map((column) => column.toUpperCase()), ...cellsOf(rows, columns)]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  const others = widths.slice(0, -1).reduce((sum, column) => sum + column + 2, 0)
  widths[widths.length - 1] = Math.max(10, Math.min(widths.at(-1) ?? 0, width - others))
  const text = lines.map((line) =>
    line
      .map((cell, index) => sized(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${text.join('\n')}\n`
}

function sized(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}
