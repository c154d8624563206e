import type { MouseEvent, ReactNode } from 'react'
import { place } from '../screen.ts'
import { opensHere } from '../shell/screen-location.ts'

/** Renders a link to another view of the Sessions tab. It is a real link, which can be opened in a new browser tab. */
export function PlaceLink({
  query,
  children,
  ...props
}: {
  query: Readonly<Record<string, string>>
  children: ReactNode
  className?: string
  tabIndex?: number
  'aria-current'?: 'true' | undefined
  'data-opens'?: boolean
}) {
  function follow(event: MouseEvent): void {
    if (!opensHere(event)) return
    event.preventDefault()
    place.setQuery(query)
  }
  return (
    <a {...props} href={sessionsUrl(query)} onClick={follow}>
      {children}
    </a>
  )
}

/** Returns the URL of a view of the Sessions tab. */
export function sessionsUrl(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString()
  return place.urlOf('sessions') + (text && `?${text}`)
}
