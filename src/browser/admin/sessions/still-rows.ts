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

/**
 * Updates rows without moving any. Marks missing sessions as ended, and does not add new sessions. Unchanged rows stay the
 * same objects, so that they are not rendered again.
 */
export function followRows(rows: readonly SessionRow[], sessions: readonly Session[]): readonly SessionRow[] {
  const live = new Map(sessions.map((session) => [session.token, session]))
  return rows.map((row) => {
    const newest = live.get(row.session.token)
    if (row.isEnded || isSame(newest, row.session)) return row
    return newest ? { ...row, session: newest } : { ...row, isEnded: true }
  })
}

/** Marks rows as ended. */
export function endRows(rows: readonly SessionRow[], isOver: (session: Session) => boolean): readonly SessionRow[] {
  return rows.map((row) => (isOver(row.session) ? { ...row, isEnded: true } : row))
}

function isSame(one: Session | undefined, other: Session): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
