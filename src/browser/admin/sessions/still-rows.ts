import type { Session } from './use-sessions.ts'

/** A session in the list. */
export interface SessionRow {
  readonly session: Session
  readonly isEnded: boolean
}

/** Converts sessions, oldest first, to rows, newest first. */
export function rowsOf(sessions: readonly Session[]): readonly SessionRow[] {
  return sessions.toReversed().map((session) => ({ session, isEnded: false }))
}

/** Updates rows without moving any. Marks missing sessions as ended, and does not add new sessions. */
export function followRows(rows: readonly SessionRow[], sessions: readonly Session[]): readonly SessionRow[] {
  const live = new Map(sessions.map((session) => [session.token, session]))
  return rows.map(({ session, isEnded }) => {
    const newest = live.get(session.token)
    return { session: newest ?? session, isEnded: isEnded || newest === undefined }
  })
}

/** Marks rows as ended. */
export function endRows(rows: readonly SessionRow[], isOver: (session: Session) => boolean): readonly SessionRow[] {
  return rows.map((row) => (isOver(row.session) ? { ...row, isEnded: true } : row))
}
