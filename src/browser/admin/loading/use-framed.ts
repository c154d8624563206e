import { useEffect, useState } from 'react'

let isFramed = false

/** Returns false while the screen is first rendered. What can wait follows in tasks of its own, for slow devices. */
export function useFramed(): boolean {
  const [isLater, setLater] = useState(isFramed)
  useEffect(() => {
    if (isLater) return undefined
    const timer = setTimeout(() => {
      isFramed = true
      setLater(true)
    })
    return () => clearTimeout(timer)
  }, [isLater])
  return isLater
}
