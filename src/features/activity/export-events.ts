import type { AuditEvent, AuditQuery } from './audit-event.ts'
import { toCaep } from './formats/to-caep.ts'
import { CSV_HEADER, toCsv } from './formats/to-csv.ts'
import { toOcsf } from './formats/to-ocsf.ts'
import type { Recorder } from './recorder.ts'

/** Formats of the export, with the type and the ending of the file. */
export const EXPORT_FORMATS = {
  jsonl: { type: 'application/jsonl; charset=utf-8', ending: 'jsonl' },
  csv: { type: 'text/csv; charset=utf-8', ending: 'csv' },
  ocsf: { type: 'application/jsonl; charset=utf-8', ending: 'ocsf.jsonl' },
  caep: { type: 'application/jsonl; charset=utf-8', ending: 'caep.jsonl' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

const PAGE = 500

/** Reads events page by page, and returns each page as a string. Holds one page at a time. */
export async function* exportEvents(
  recorder: Pick<Recorder, 'read'>,
  selection: Omit<AuditQuery, 'limit' | 'cursor'>,
  format: ExportFormat,
  site: string,
): AsyncGenerator<string> {
  const lineOf = LINES[format]
  let start = format === 'csv' ? CSV_HEADER : ''
  let cursor: string | undefined
  do {
    const { events, next } = await recorder.read({ ...selection, limit: PAGE, cursor })
    const text = start + events.map((event) => lineOf(event, site)).join('')
    start = ''
    cursor = next
    if (text !== '') yield text
  } while (cursor !== undefined)
}

const json = (value: object | undefined) => (value === undefined ? '' : `${JSON.stringify(value)}\n`)

/** Returns the line of an event, or an empty string if the format has none for it. */
const LINES: Record<ExportFormat, (event: AuditEvent, site: string) => string> = {
  jsonl: json,
  csv: toCsv,
  ocsf: (event, site) => json(toOcsf(event, site)),
  caep: (event, site) => json(toCaep(event, { issuer: site })),
}
