import type { MouseEvent, ReactNode } from 'react'
import { place } from '../screen.ts'
import { opensHere } from '../shell/screen-location.ts'
import { useTexts } from '../texts/use-texts.ts'
import { Icon } from './icon.tsx'

/** Renders a link that opens in a new tab. */
export function NewTabLink({
  children,
  about,
  ...props
}: {
  href: string
  children: ReactNode
  className: string
  /** What the link is about, for screen readers. */
  about?: string | undefined
  rel?: string
}) {
  const t = useTexts()
  return (
    <a target="_blank" rel="noopener" {...props}>
      <span>
        {children}
        {about && <span className="unseen">: {about}</span>}
        <span className="unseen"> {t('new_tab')}</span>
      </span>
      <Icon name="external" />
    </a>
  )
}

/** Renders a link to another site. Renders nothing for an unsafe URL, such as `javascript:`. */
export function SafeLink({
  href,
  className = 'link',
  ...props
}: {
  href: unknown
  children: ReactNode
  className?: string
  about?: string | undefined
}) {
  const url = webAddress(href)
  return url && <NewTabLink {...props} href={url} className={className} rel="noopener noreferrer" />
}

/** Parses an http or https URL, or a path on this site. Returns undefined for anything else, such as `javascript:`. */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  // A second slash or a backslash would make it a URL on another site.
  const isPath = /^\/(?![/\\])/.test(value)
  if (!isPath && !/^https?:\/\//i.test(value)) return undefined
  return URL.canParse(value, window.location.href) ? new URL(value, window.location.href).href : undefined
}

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
