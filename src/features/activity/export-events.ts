import { SessmgrError } from '../../ground/errors.ts'
import type { AuditEvent } from './audit-event.ts'
import { toCaep } from './formats/to-caep.ts'
import { CSV_HEADER, toCsv } from './formats/to-csv.ts'
import { toOcsf } from './formats/to-ocsf.ts'
import type { Recorder } from './recorder.ts'
import type { Selection } from './sinks/matches-query.ts'

/** Formats of the export, with the type and the ending of the file. */
export const EXPORT_FORMATS = {
  jsonl: { type: 'application/jsonl; charset=utf-8', ending: 'jsonl' },
  csv: { type: 'text/csv; charset=utf-8', ending: 'csv' },
  ocsf: { type: 'application/jsonl; charset=utf-8', ending: 'ocsf.jsonl' },
  caep: { type: 'application/jsonl; charset=utf-8', ending: 'caep.jsonl' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

const PAGE = 500

/**
 * Reads events page by page, and returns each page as a string, even an empty one, so that a closed connection ends the
 * reading. Holds one page at a time.
 *
 * @throws SessmgrError `store_unavailable` if the sink does not get on.
 */
export async function* exportEvents(
  recorder: Pick<Recorder, 'read'>,
  selection: Selection,
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
    if (next !== undefined && next === cursor) {
      throw new SessmgrError('store_unavailable', 'The audit sink returned the same `next` twice.')
    }
    cursor = next
    yield text
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
