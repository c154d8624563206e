import { useState } from 'react'
import { endRows, followRows, rowsOf, type SessionRow } from './still-rows.ts'
import type { Session } from './use-sessions.ts'

/** The visible rows, which keep their places while sessions come and go. */
export interface StillRows {
  readonly rows: readonly SessionRow[]
  /** How many live sessions have no row yet. */
  readonly waiting: number
  /** Rebuilds the list, without ended sessions and with new ones. */
  show(sessions: readonly Session[]): void
  /** Marks sessions as ended before the list is next read from the server. */
  end(isOver: (session: Session) => boolean): void
}

/** Follows a user's sessions without moving a row under the pointer. */
export function useStillRows(sessions: readonly Session[] | undefined): StillRows {
  const [last, setLast] = useState<readonly Session[]>()
  const [rows, setRows] = useState<readonly SessionRow[]>([])
  if (sessions && sessions !== last) {
    setLast(sessions)
    setRows(last ? followRows(rows, sessions) : rowsOf(sessions))
  }
  const shown = new Set(rows.map(({ session }) => session.token))
  return {
    rows,
    waiting: (last ?? []).filter(({ token }) => !shown.has(token)).length,
    show: (newest) => setRows(rowsOf(newest)),
    end: (isOver) => setRows((current) => endRows(current, isOver)),
  }
}
