import { useSyncExternalStore } from 'react'
import { place } from '../screen.ts'

/** Reads one value of the query of the address. */
export function useQueryValue(name: string): string {
  const current = useSyncExternalStore(place.subscribe, place.current)
  return new URLSearchParams(current.split('?')[1]).get(name) ?? ''
}
