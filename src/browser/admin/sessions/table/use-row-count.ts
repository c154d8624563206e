import { useState } from 'react'
import { place } from '../../screen.ts'

/** The most rows that a URL can ask for. */
const MOST = 1000

/** Returns how many rows to show, and a function that changes it. The URL keeps the number, for Back and reload. */
export function useRowCount(first: number): readonly [count: number, show: (count: number) => void] {
  const [count, setCount] = useState(() => {
    const asked = Number(new URLSearchParams(place.query()).get('rows'))
    return Math.max(first, Math.min(Math.trunc(asked) || 0, MOST))
  })
  return [
    count,
    (next) => {
      setCount(next)
      place.amendQuery({ rows: String(next) })
    },
  ]
}
