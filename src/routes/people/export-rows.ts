import { csvRow } from '../download/csv.ts'
import { RestDownload } from '../download/rest-download.ts'
import type { ExportFormat } from './people-parameters.ts'

/** The columns of a CSV file, and how each is read from a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>

/** Returns rows as a file, CSV or a JSON array, which is sent while `pages` is still being read. */
export function exportRows<Row>(
  name: string,
  format: ExportFormat,
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): RestDownload {
  if (format === 'json') return new RestDownload(`${name}.json`, 'application/json; charset=utf-8', jsonOf(pages))
  return new RestDownload(`${name}.csv`, 'text/csv; charset=utf-8', csvOf(columns, pages))
}

async function* csvOf<Row>(columns: Columns<Row>, pages: AsyncIterable<readonly Row[]>) {
  const read = Object.values(columns)
  let start = csvRow(Object.keys(columns))
  for await (const rows of pages) {
    // If reading the first page fails, nothing has been sent yet.
    yield start + rows.map((row) => csvRow(read.map((cell) => cell(row)))).join('')
    start = ''
  }
  yield start
}

async function* jsonOf(pages: AsyncIterable<readonly unknown[]>) {
  let start = '['
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield `${start}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`
    start = ','
  }
  yield start === '[' ? '[]\n' : '\n]\n'
}
