import { useEffect } from 'react'
import { useFramed } from '../loading/use-framed.ts'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/feedback/empty.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { PartBoundary } from '../parts/feedback/part-boundary.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { place, vars } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { ScreenTabs, type TabEntry } from './entries.ts'
import { Header } from './header.tsx'
import { HookProblems } from './hook-problems.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { SaveBar } from './save-bar.tsx'
import { SignedOut } from './signed-out.tsx'
import { Toasts } from './toasts.tsx'
import { useTabs } from './use-tabs.ts'

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
