import { type MouseEvent, useLayoutEffect, useRef } from 'react'

const PAUSE_MS = 500

/**
 * Gives a handler that keeps clicks away from a list: the second one of a double click, and those that come so soon
 * after the list has changed that they were meant for what was there before.
 *
 * @param state Changes with the list.
 */
export function useSteadyClicks(state: string): (event: MouseEvent) => void {
  const known = useRef<string>(undefined)
  const changedAt = useRef(0)
  useLayoutEffect(() => {
    // What has just appeared cannot have been anything else before.
    if (known.current) changedAt.current = Date.now()
    known.current = state
  }, [state])
  return (event) => {
    const isByPointer = event.detail > 0
    if (event.detail > 1 || (isByPointer && Date.now() - changedAt.current < PAUSE_MS)) {
      event.preventDefault()
      event.stopPropagation()
    }
  }
}
