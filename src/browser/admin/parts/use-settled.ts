import { useEffect, useState } from 'react'

/**
 * Returns a value that follows another one with a delay, so that not every key press starts a call.
 *
 * @param pauseMs How long `value` must stay the same.
 */
export function useSettled<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
