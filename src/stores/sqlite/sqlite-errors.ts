import { rewordError } from '../../ground/error-text.ts'

const OTHER_TABLE =
  'This is not a table that this version of sessmgr can use. Name another table with the option "table"'

/**
 * Advice for errors that only an operator can fix, by SQLite's own messages, because each package has different codes.
 */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/readonly database/, 'Make the file and its folder writable for this process'],
  [/no such table/, 'Restart the app, which creates the table'],
  [/no such column|has no column|match any PRIMARY KEY/, OTHER_TABLE],
  [/disk is full/, 'Free some space'],
  [/unable to open database file/, 'Create its folder, and make it writable for this process'],
  [/not a database|malformed/, 'Stop the app, and restore the file from a backup or delete it'],
]

/** Adds advice to an error of a SQLite package. */
export function explainSqlite(error: unknown): Error {
  return rewordError(error, (text) => {
    const advice = ADVICE.find(([pattern]) => pattern.test(text))?.[1]
    return advice === undefined ? text : `${text}. ${advice}`
  })
}

/** Checks whether another process was writing. Each package reports this in its own way. */
export function isBusy(error: unknown): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return /SQLITE_(BUSY|LOCKED)/.test(String(code)) || /database (table )?is locked/.test(String(message))
}

/** Checks whether a write failed because the connection has not seen a write of another connection. */
export function isStale(error: unknown): boolean {
  return String((error as { code?: unknown }).code) === 'SQLITE_BUSY_SNAPSHOT'
}
