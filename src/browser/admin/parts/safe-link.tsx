import type { ReactNode } from 'react'
import { useTexts } from '../texts/use-texts.ts'
import { Icon } from './icon.tsx'

/** Draws a link to a page of another site. An address that is not one of a page, such as `javascript:`, makes no link. */
export function SafeLink({
  href,
  children,
  className = 'link',
  about,
}: {
  href: unknown
  children: ReactNode
  className?: string
  /** What the link is about, for those who hear it alone. */
  about?: string | undefined
}) {
  const t = useTexts()
  const url = webAddress(href)
  if (url === undefined) return null
  return (
    <a className={className} href={url} target="_blank" rel="noopener noreferrer">
      <span>
        {children}
        {about && <span className="unseen">: {about}</span>}
        <span className="unseen"> {t('new_tab')}</span>
      </span>
      <Icon name="external" />
    </a>
  )
}

/** Reads an http or https address, or a path on this site; undefined for anything else, such as `javascript:`. */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  // A second slash, of either kind, would make it an address on another site.
  const isPath = /^\/(?![/\\])/.test(value)
  if (!isPath && !/^https?:\/\//i.test(value)) return undefined
  return URL.canParse(value, window.location.href) ? new URL(value, window.location.href).href : undefined
}
