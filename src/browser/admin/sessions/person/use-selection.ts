import { useCallback, useState } from 'react'
import type { Session } from '../use-sessions.ts'
import { MOST_AT_ONCE } from './use-end-sessions.ts'

/** The selected sessions, at most as many as one call may end. */
export interface Selection {
  readonly tokens: ReadonlySet<string>
  /** Selects a session, or no longer. */
  toggle(session: Session): void
  /** Selects these sessions only. */
  become(sessions: readonly Session[]): void
}

/** Keeps which sessions are selected. */
export function useSelection(): Selection {
  const [tokens, setTokens] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    ({ token }: Session) =>
      setTokens((current) => {
        const next = new Set(current)
        if (!next.delete(token) && next.size < MOST_AT_ONCE) next.add(token)
        return next
      }),
    [],
  )
  return {
    tokens,
    toggle,
    become: (sessions) => setTokens(new Set(sessions.slice(0, MOST_AT_ONCE).map(({ token }) => token))),
  }
}
