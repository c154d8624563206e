import { useState } from 'react'
import { endRows, followRows, rowsOf, type SessionRow } from './still-rows.ts'
import type { Session } from './use-sessions.ts'

/** The rows on the screen, which stay where they are while the sessions behind them come and go. */
export interface StillRows {
  readonly rows: readonly SessionRow[]
  /** How many live sessions the rows do not show. */
  readonly waiting: number
  /** Draws the list anew: without what has ended, and with what is new. */
  show(sessions: readonly Session[]): void
  /** Marks sessions as ended before the server is asked again. */
  end(isOver: (session: Session) => boolean): void
}

/** Follows the sessions of a user without moving a row under the pointer of whoever is about to press a button. */
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
