import { csvRow } from '../../../routes/download/csv.ts'
import type { AuditEvent } from '../audit-event.ts'

const COLUMNS = [
  'at',
  'type',
  'user',
  'session',
  'initiator',
  'actor',
  'kind',
  'device',
  'ip',
  'details',
  'id',
] as const

/** The first row of a file with events. */
export const CSV_HEADER = csvRow(COLUMNS)

/** Returns an event as a row. Its time is in ISO 8601. */
export function toCsv(event: AuditEvent): string {
  return csvRow(COLUMNS.map((name) => (name === 'at' ? new Date(event.at).toISOString() : event[name])))
}
