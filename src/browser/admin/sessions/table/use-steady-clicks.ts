import { type MouseEvent, useLayoutEffect, useRef } from 'react'

const PAUSE_MS = 500

/**
 * Returns a handler that ignores clicks that were probably meant for another row: the second click of a double click,
 * and clicks right after the list has changed.
 *
 * @param state Must change whenever the list does.
 */
export function useSteadyClicks(state: string): (event: MouseEvent) => void {
  const known = useRef<string>(undefined)
  const changedAt = useRef(0)
  useLayoutEffect(() => {
    // Only a change moves rows, so clicks on the first list count at once.
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
