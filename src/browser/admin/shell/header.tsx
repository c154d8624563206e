import { type MouseEvent, useEffect, useRef } from 'react'
import { Icon } from '../parts/icon.tsx'
import { place, siteUrl, userName, vars } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import type { TabEntry } from './entries.ts'
import { opensHere } from './screen-location.ts'

/** Renders the product name and the tabs. The tabs are real links, which can be opened in a new browser tab. */
export function Header({ tabs, open }: { tabs: readonly TabEntry[]; open: TabEntry | undefined }) {
  const t = useTexts()
  const nav = useRef<HTMLElement>(null)
  const openKey = open?.key
  const count = tabs.length
  useEffect(() => {
    // On a narrow screen, the tabs scroll. Keep the open one visible.
    const link = openKey === undefined || count === 0 ? null : nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (link && nav.current) nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.clientWidth) / 2
  }, [openKey, count])

  function follow(event: MouseEvent, key: string): void {
    if (!opensHere(event)) return
    event.preventDefault()
    if (key !== openKey) place.go(key)
  }

  return (
    <header className="top">
      <div className="brand">
        <span className="brand-mark">
          <Icon name="logo" />
        </span>
        <h1>{vars.name}</h1>
        <span className="badge">{vars.version}</span>
        <p className="who">
          <bdi>{userName}</bdi>
          {siteUrl && (
            <a href={siteUrl}>
              <span className="back-mark arrow" aria-hidden="true">
                ←
              </span>
              <span>{t('back_to_site')}</span>
            </a>
          )}
        </p>
      </div>
      <nav className="tabs" aria-label={t('nav')} ref={nav}>
        {tabs.map(({ key, label }) => (
          <a
            key={key}
            href={place.urlOf(key)}
            aria-current={key === openKey ? 'page' : undefined}
            onClick={(event) => follow(event, key)}
          >
            {label}
          </a>
        ))}
      </nav>
    </header>
  )
}
