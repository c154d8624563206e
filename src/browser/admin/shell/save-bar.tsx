import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useOptions } from '../options/use-options.ts'
import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { draft, saving, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const TABS_WITH_OPTIONS = ['settings', 'comments']

/** Renders the button that saves all edits, on tabs with options and whenever there are edits. */
export function SaveBar({ tab }: { tab: string | undefined }) {
  const t = useTexts()
  const { isDirty, isSaving, save } = useSave()
  const { data: options } = useOptions(false)
  const failure = useSyncExternalStore(saving.failure.subscribe, saving.failure.value)
  const bar = useRoom(isDirty)
  useEnter(isDirty && !isSaving, save)
  useEffect(() => {
    const say = () => saving.failure.value() && saving.failure.become(t('online_again'))
    window.addEventListener('online', say)
    return () => window.removeEventListener('online', say)
  }, [t])
  // Options that are still loading would push the bar down.
  if (!isDirty && !(options && TABS_WITH_OPTIONS.includes(tab ?? ''))) return null

  function discard(): void {
    saving.failure.become(undefined)
    draft.discard()
    toasts.clear()
    // The button that had the focus disappears.
    bar.current?.querySelector<HTMLElement>('.primary')?.focus({ preventScroll: true })
  }

  return (
    <div className={isDirty ? 'save-bar dirty' : 'save-bar'} ref={bar}>
      <p role="status" className={failure && 'problem'}>
        {isDirty && (failure ? t('not_saved', { reason: failure }) : t('unsaved'))}
      </p>
      {isDirty && (
        <Button tone="quiet" disabled={isSaving} onClick={discard}>
          {t('discard')}
        </Button>
      )}
      <Button tone="primary" disabled={!isDirty} busy={isSaving && t('saving')} onClick={() => void save()}>
        {t('save')}
      </Button>
    </div>
  )
}

/** Saves when Enter is pressed in a field, as a form does. Fields of separate forms belong to those. */
function useEnter(isOn: boolean, save: () => unknown): void {
  useEffect(() => {
    if (!isOn) return
    const press = (event: KeyboardEvent) => {
      const { target, key, defaultPrevented, isComposing } = event
      if (key !== 'Enter' || defaultPrevented || isComposing || !(target instanceof Element)) return
      if (target.matches('main input:is([type=number], [type=text])') && !target.closest('form')) save()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  })
}

/** Keeps the focused element clear of the bar while it covers part of the page. */
function useRoom(isOver: boolean) {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!bar.current || !isOver) return
    const { style } = document.documentElement
    const observer = new ResizeObserver(([entry]) => {
      style.setProperty('--bar', `${entry?.borderBoxSize[0]?.blockSize ?? 0}px`)
      const focused = document.activeElement
      if (focused?.closest('main > :not(.save-bar)')) focused.scrollIntoView({ block: 'nearest' })
    })
    observer.observe(bar.current)
    return () => {
      observer.disconnect()
      style.removeProperty('--bar')
    }
  }, [isOver])
  return bar
}
