import type { MouseEvent, ReactNode } from 'react'
import { place } from '../screen.ts'
import { opensHere } from '../shell/screen-location.ts'

/** Renders a link to a view of a tab. It is a real link, which can be opened in a new browser tab. */
export function PlaceLink({
  tab = 'sessions',
  query,
  children,
  ...props
}: {
  /** Key of the tab. */
  tab?: string
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
    place.go(tab, query)
  }
  return (
    <a {...props} href={place.urlOf(tab, query)} onClick={follow}>
      {children}
    </a>
  )
}
