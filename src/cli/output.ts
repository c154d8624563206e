import { CliError } from './cli-error.ts'

/** Output formats. */
export const FORMATS = ['table', 'json', 'csv', 'ids'] as const

/** Minimum width of the last column of a table, in characters. */
const NARROWEST = 10

type Row = Readonly<Record<string, string | number | boolean | null>>

/**
 * Writes rows in the given format. `ids` writes only the values of the first column, separated by spaces.
 *
 * Tables are cut to the width of a terminal, but not in a file or a pipe.
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
  if (format === 'json') write(`${plainJson(rows)}\n`)
  else if (format === 'csv') write(`${[columns, ...cellsOf(rows, columns)].map(csvLine).join('\n')}\n`)
  else if (format === 'ids') write(`${cellsOf(rows, [first]).join(' ')}\n`)
  else if (format === 'table') write(table(rows, columns, width))
  else throw new CliError(2, `Unknown format "${format}". Use one of ${FORMATS.join(', ')}.`)
}

/** Formats a time for a cell, in UTC. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** Returns a count with its noun, such as "2 sessions". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function cellsOf(rows: readonly Row[], columns: readonly string[]): string[][] {
  return rows.map((row) => columns.map((column) => plainLine(String(row[column] ?? ''))))
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

/**
 * Matches control characters, except the line feed, and characters that change the direction of text. Terminals obey
 * the former, and the latter can make one name look like another. Clients choose their login names and user agents.
 */
const UNSAFE = /(?!\n)[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Replaces each character that must not reach a terminal with a space. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE, ' ')
}

/** Like `plainText`, for text that must stay on one line. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll('\n', ' ')
}

/** Returns a value as JSON. Escapes characters that must not reach a terminal. */
export function plainJson(value: unknown): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, 2).replaceAll(UNSAFE, escaped)
}

/**
 * Runs a command and waits until its output has been written, because a pipe takes only part of a long list at once.
 *
 * It is not an error if the reader closes the pipe early, as `head` does.
 *
 * @returns The exit code of the command, or 1 if the output could not be written.
 */
export async function writtenOut(run: () => Promise<number>): Promise<number> {
  let failure: Error | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error
  })
  process.stderr.on('error', () => {})
  const code = await run()
  await written(process.stdout)
  if (failure) {
    process.stderr.write(`The output could not be written: ${failure.message}\n`)
  }
  await written(process.stderr)
  return failure ? 1 : code
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => setImmediate(resolve))
  })
}
