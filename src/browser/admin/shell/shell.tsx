import { type MouseEvent, useEffect, useRef, useSyncExternalStore } from 'react'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Empty, Failed, Notice, PartBoundary, Skeleton } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { hookChanges, place, siteUrl, userName, vars } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { ScreenTabs, type TabEntry } from './entries.ts'
import { useFramed } from './late-part.tsx'
import { ConflictDialog, LeaveDialog, SaveBar } from './save-bar.tsx'
import { opensHere } from './screen-location.ts'
import { SignedOut } from './signed-out.tsx'
import { useTabs } from './tabs.tsx'
import { Toasts } from './toasts.tsx'

/** Renders the whole screen. */
export function Shell() {
  const t = useTexts()
  const { tabs, open, key } = useTabs()
  const isFramed = useFramed()
  const label = open?.label
  useEffect(() => {
    document.title = label ? `${label} – ${vars.name}` : vars.name
  }, [label])

  return (
    <>
      <a className="skip" href="#content">
        {t('skip')}
      </a>
      <Header tabs={tabs} open={open} />
      <main id="content" tabIndex={-1} className={open?.wide ? 'column wide' : 'column'}>
        <SignedOut />
        <HookProblems />
        {open ? (
          <PartBoundary key={open.key} name={open.label}>
            <ScreenTabs value={tabs}>
              <open.component />
            </ScreenTabs>
          </PartBoundary>
        ) : (
          // An add-on may add the tab a moment later.
          <NoTab name={key} first={tabs[0]} />
        )}
        <SaveBar tab={open?.key} />
      </main>
      {isFramed && (
        <>
          <LeaveDialog />
          <ConflictDialog />
          <Toasts />
        </>
      )}
    </>
  )
}

function NoTab({ name, first }: { name: string; first: TabEntry | undefined }) {
  const t = useTexts()
  const { error, refetch, isFetching, isPending } = useOptions()
  if (isPending) return <Skeleton />
  if (error) return <Failed error={error} retry={refetch} isRetrying={isFetching} />
  return (
    <Empty
      icon="puzzle"
      title={t('no_tab', { key: name })}
      action={first && <Button onClick={() => place.go(first.key)}>{t('to_first_tab', { label: first.label })}</Button>}
    >
      {t('no_tab_help')}
    </Empty>
  )
}

/** Renders the product name and the tabs. The tabs are real links, which can be opened in a new browser tab. */
function Header({ tabs, open }: { tabs: readonly TabEntry[]; open: TabEntry | undefined }) {
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

/** Lists add-ons whose subscribers failed. */
function HookProblems() {
  const t = useTexts()
  const problems = useSyncExternalStore(hookChanges.subscribe, hookChanges.problems)
  return problems.map(({ namespace, hook, reason }) => (
    <Notice tone="warning" key={`${namespace} ${hook}`}>
      {t('broken_hook', { namespace, hook, reason })}
    </Notice>
  ))
}
