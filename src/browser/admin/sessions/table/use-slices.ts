import { useEffect, useState } from 'react'

/** How many rows are rendered in one task, so that a slow device stays responsive. */
const SLICE = 5

let isFirstList = true

/**
 * Returns how many of `count` rows to render by now. All of them follow a few at a time, except in later lists:
 * browsers restore how far a list was scrolled only if its rows are there at once.
 */
export function useSlices(count: number): number {
  const [drawn, setDrawn] = useState(isFirstList ? SLICE : Math.max(SLICE, count))
  const isWhole = drawn >= count
  useEffect(() => {
    if (isWhole) {
      isFirstList = false
      return undefined
    }
    const timer = setTimeout(() => setDrawn(drawn + SLICE))
    return () => clearTimeout(timer)
  }, [drawn, isWhole])
  return Math.min(drawn, count)
}
