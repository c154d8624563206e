import { type ComponentType, type MouseEvent, Suspense, useEffect, useRef, useSyncExternalStore } from 'react'
import type { ScreenTab } from '../../../features/admin/screen-tabs.ts'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Empty, Notice, PartBoundary, Pending } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { builtInTabs, hookChanges, hooks, onlyTab, place, rest, siteUrl, vars } from '../screen.ts'
import { lastView } from '../sessions/people/use-people.ts'
import { useTexts } from '../texts/use-texts.ts'
import { arrangeTabs, ScreenTabs, type TabEntry, withoutIdle } from './entries.ts'
import { watchAddon } from './foreign-react.ts'
import { latePart } from './late-part.tsx'
import { LATE_PARTS, loadAhead } from './late-parts.ts'
import { opensHere } from './screen-location.ts'
import { SignedOut } from './signed-out.tsx'
import { Toasts } from './toasts.tsx'

/** Renders the whole screen. */
export function Shell() {
  const t = useTexts()
  const { tabs, open, key } = useTabs()
  // Without options, there is nothing to save.
  const { data: options } = useOptions(false)
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
        {options && (
          <PartBoundary name={vars.name}>
            <Suspense>
              <Saving />
            </Suspense>
          </PartBoundary>
        )}
      </main>
      <Toasts />
    </>
  )
}

/** Loads the code of a tab whose link is pointed at or focused. */
function prepare(key: string): void {
  const part = key === 'sessions' ? 'people-page' : key === 'activity' ? 'activity-page' : `${key}-tab`
  if (part in LATE_PARTS) loadAhead(part as keyof typeof LATE_PARTS)
}

const { 'people-page': PeoplePage, 'person-page': PersonPage, 'activity-page': ActivityPage } = LATE_PARTS
const Saving = latePart(async () => (await import('../options/save-bar.tsx')).Saving)

const COMPONENTS: Readonly<Record<ScreenTab, ComponentType>> = {
  sessions: SessionsTab,
  activity: ActivityTab,
  settings: LATE_PARTS['settings-tab'],
  comments: LATE_PARTS['comments-tab'],
  addons: LATE_PARTS['addons-tab'],
  support: LATE_PARTS['support-tab'],
}

/** Returns the tabs, and the open tab if the URL names one. */
function useTabs(): { tabs: readonly TabEntry[]; open: TabEntry | undefined; key: string } {
  const t = useTexts()
  // An add-on that loads late may change the tabs.
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const key = useSyncExternalStore(place.subscribe, place.key)
  const builtIn: readonly TabEntry[] = builtInTabs.map(({ key, wide }) => ({
    key,
    label: t(`tab_${key}`),
    component: COMPONENTS[key],
    wide,
  }))
  const filtered: unknown = hooks.applyFilters('sessmgr.admin.tabs', builtIn)
  const all = arrangeTabs(Array.isArray(filtered) ? filtered : builtIn)
  for (const { key, component } of all) if (component !== COMPONENTS[key as ScreenTab]) watchAddon(component)
  const idle = builtIn[builtInTabs.findIndex(({ isIdle }) => isIdle)]
  const tabs = withoutIdle(onlyTab ? all.filter((tab) => tab.key === onlyTab) : all, idle)
  return { tabs, open: key === '' ? tabs[0] : tabs.find((tab) => tab.key === key), key }
}

/** Renders the list of signed-in people, or the sessions of the user that the URL names. */
function SessionsTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const user = query.get('user') ?? ''
  return user === '' ? <PeoplePage query={query} /> : <PersonPage key={user} user={user} query={query} />
}

/** Renders the Activity tab. Its filter is in the URL, so that a view can be shared and reloaded. */
function ActivityTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  return <ActivityPage query={query} />
}

function NoTab({ name, first }: { name: string; first: TabEntry | undefined }) {
  const t = useTexts()
  const options = useOptions()
  if (options.data === undefined) return <Pending of={options} />
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
  const user = useSyncExternalStore(rest.subscribe, rest.user)
  useEffect(() => {
    // On a narrow screen, the tabs scroll. Keep the open one visible.
    const link = openKey === undefined || count === 0 ? null : nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (link && nav.current) nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.clientWidth) / 2
  }, [openKey, count])

  function follow(event: MouseEvent, key: string): void {
    if (!opensHere(event)) return
    event.preventDefault()
    if (key === 'sessions') place.go(key, lastView())
    else if (key !== openKey) place.go(key)
  }

  return (
    <header className="top">
      <h1 title={`${vars.name} ${vars.version}`}>
        <span className="brand-mark">
          <Icon name="logo" />
        </span>
        <span className="brand-name">{vars.name}</span>
      </h1>
      <nav className="tabs" aria-label={t('nav')} ref={nav}>
        {tabs.map(({ key, label }) => (
          <a
            key={key}
            href={place.urlOf(key)}
            aria-current={key === openKey ? 'page' : undefined}
            onPointerEnter={() => prepare(key)}
            onFocus={() => prepare(key)}
            onClick={(event) => follow(event, key)}
          >
            {label}
          </a>
        ))}
      </nav>
      <p className="who">
        <bdi>{user.name}</bdi>
        {siteUrl && (
          <a href={siteUrl}>
            <span className="back-mark arrow" aria-hidden="true">
              ←
            </span>
            <span>{t('back_to_site')}</span>
          </a>
        )}
      </p>
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
