import { useCallback, useRef, useState } from 'react'
import type { Session } from '../use-sessions.ts'
import { MOST_AT_ONCE } from './use-end-sessions.ts'

/** The selected sessions, at most as many as one call may end. */
export interface Selection {
  readonly tokens: ReadonlySet<string>
  /** Selects a session, or no longer. With `isRange`, also all sessions between it and the previous one. */
  toggle(session: Session, isRange: boolean): void
  /** Selects these sessions only. */
  become(sessions: readonly Session[]): void
}

/** Keeps which sessions are selected. `sessions` are those that can be, in the order of the rows. */
export function useSelection(sessions: readonly Session[]): Selection {
  const [tokens, setTokens] = useState<ReadonlySet<string>>(new Set())
  const list = useRef(sessions)
  list.current = sessions
  const previous = useRef<string>(undefined)
  const toggle = useCallback(({ token }: Session, isRange: boolean) => {
    const range = isRange ? between(list.current, previous.current, token) : [token]
    previous.current = token
    setTokens((current) => {
      const next = new Set(current)
      for (const one of range) {
        if (current.has(token)) next.delete(one)
        else if (next.size < MOST_AT_ONCE) next.add(one)
      }
      return next
    })
  }, [])
  return {
    tokens,
    toggle,
    become: (chosen) => setTokens(new Set(chosen.slice(0, MOST_AT_ONCE).map(({ token }) => token))),
  }
}

/** Returns the tokens from one to another, whichever comes first. */
function between(sessions: readonly Session[], one: string | undefined, other: string): readonly string[] {
  const all = sessions.map(({ token }) => token)
  const [start = 0, end = 0] = [all.indexOf(one ?? other), all.indexOf(other)].toSorted(
    (first, second) => first - second,
  )
  return start < 0 ? [other] : all.slice(start, end + 1)
}
