import { useEffect, useRef, useSyncExternalStore } from 'react'
import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { RestFailure } from '../rest/rest-client.ts'
import { useFailureText, useOnline } from '../rest/use-rest.ts'
import { draft, hooks, OPTIONS_QUERY, place, queries, rest, storedOptions, toasts } from '../screen.ts'
import { peopleWith, usePeopleSummary } from '../sessions/people/use-people.ts'
import { addTexts, countKey, useTexts } from '../texts/use-texts.ts'
import type { Refusal, SiteOptions } from './option-draft.ts'
import { SAVE_TEXTS } from './save-texts.ts'
import { useDraft, useOptions } from './use-options.ts'
import { meetConflict } from './who-changed.ts'

addTexts(SAVE_TEXTS)

/** Renders the bar that saves all edits, and the question about them. */
export function Saving() {
  return (
    <>
      <SaveBar />
      <LeaveDialog />
    </>
  )
}

/** Renders the bar that saves all edits. Renders nothing without edits. */
function SaveBar() {
  const t = useTexts()
  const save = useSave()
  const isDirty = useDraft(draft.isDirty)
  const isSending = useDraft(draft.isSending)
  const { reason, conflict, isOffline = false } = useDraft(draft.refusal) ?? {}
  const isBack = useOnline() && isOffline
  const bar = useRoom(isDirty)
  useEnter(save)
  if (!isDirty) return null

  function discard(): void {
    draft.discard(conflict)
    toasts.clear()
  }

  return (
    <div className="save-bar" ref={bar} tabIndex={-1}>
      <p role="status" className={reason && 'problem'}>
        {isBack ? t('not_saved', { reason: t('online_again') }) : (reason ?? t('unsaved'))}{' '}
        {!conflict && <LimitChange />}
      </p>
      {/* Other buttons, so that a second press on "Save Changes" does not answer the question that the first one raised. */}
      <Button key={conflict ? 'theirs' : 'discard'} tone="quiet" disabled={isSending} onClick={discard}>
        {t(conflict ? 'conflict_theirs' : 'discard')}
      </Button>
      <Button
        key={conflict ? 'mine' : 'save'}
        tone="primary"
        busy={isSending && t('saving')}
        // The same for the second click of a double click.
        onClick={({ detail }) => detail < 2 && void save()}
      >
        {t(conflict ? 'conflict_mine' : 'save')}
      </Button>
    </div>
  )
}

/** Names a change of the limit. If it is lower, says how many people have more sessions, and links to them. */
function LimitChange() {
  const t = useTexts()
  const { data: options } = useOptions(false)
  const { data: summary } = usePeopleSummary()
  const edits = useDraft(draft.edits)
  const [from, to] = [options?.sessmgr_settings, edits.sessmgr_settings].map(
    (one) => (one as { maximum?: unknown })?.maximum,
  )
  if (typeof from !== 'number' || typeof to !== 'number' || to === from) return null
  const change = <strong>{t('limit_change', { from, to })}</strong>
  if (to > from) return change
  const people = summary ? peopleWith(summary, to + 1) : 0
  if (people === 0) {
    return (
      <>
        {change} {t(summary?.exact ? 'maximum_over_none' : 'maximum_lower')}
      </>
    )
  }
  const query = { show: 'over_limit', sort: 'most', than: String(to) }
  return (
    <>
      {change} {t(countKey(summary?.exact ? 'maximum_over' : 'maximum_over_about', people), { count: people })}{' '}
      <button type="button" className="link" onClick={() => place.go('sessions', query, true)}>
        {t('show_them')}
      </button>
    </>
  )
}

/** Saves when Enter is pressed in a field. Ignores fields in a form, which handles Enter itself. */
function useEnter(save: () => unknown): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { target, key, defaultPrevented, isComposing } = event
      if (key !== 'Enter' || defaultPrevented || isComposing || !(target instanceof Element)) return
      if (!target.matches('main input:is([type=number], [type=text])') || target.closest('form')) return
      // Ask the draft, because the last key may have been pressed before this component renders again.
      const hasChoice = draft.refusal()?.conflict
      if (draft.isDirty() && !hasChoice) save()
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

/** Returns the function that saves all edits in one call. It keeps them and resolves to false if they are refused. */
function useSave(): () => Promise<boolean> {
  const t = useTexts()
  const textOf = useFailureText()

  function refusalOf(error: unknown): Refusal {
    // A notice tells users that they were signed out.
    const reason = rest.signedIn() === 'yes' ? t('not_saved', { reason: textOf(error, 'save_failed') }) : undefined
    return { reason, problems: error instanceof RestFailure ? error.params : {}, isOffline: !navigator.onLine }
  }

  return async () => {
    const invalid = firstInvalidField()
    if (invalid) {
      invalid.focus()
      toasts.show(t('save_invalid'), 'error')
    }
    if (invalid || draft.isSending()) return false
    const edits = draft.send()
    try {
      const saved = await rest.requestObject<SiteOptions>('POST', OPTIONS_PATH, edits, storedOptions().tag)
      queries.set(OPTIONS_QUERY, saved)
    } catch (error) {
      const isConflict = error instanceof RestFailure && error.code === 'settings_changed'
      const conflict = isConflict ? await meetConflict(t, edits).catch(refusalOf) : undefined
      draft.refuse(conflict ?? refusalOf(error))
      return false
    }
    draft.settle(edits)
    toasts.show(t('saved'))
    hooks.doAction('sessmgr.admin.saved', Object.keys(edits))
    return true
  }
}

/**
 * Returns the first invalid field, which prevents saving. Includes the fields of add-ons, but not the fields of forms,
 * which validate themselves.
 */
function firstInvalidField(): HTMLElement | undefined {
  const fields = document.querySelectorAll<HTMLElement>('main :is(input, select, textarea):invalid')
  return [...fields].find((field) => field.closest('form') === null)
}

/** Asks about unsaved changes when the user opens another tab. */
function LeaveDialog() {
  const t = useTexts()
  const isOpen = useSyncExternalStore(place.subscribe, place.pending) !== undefined
  const save = useSave()
  const isDirty = useDraft(draft.isDirty)
  const isSending = useDraft(draft.isSending)
  useEffect(() => {
    // The changes were discarded or saved in the meantime, so there is nothing left to ask.
    if (isOpen && !isDirty) place.settle(true)
  }, [isOpen, isDirty])

  if (!isOpen) return null
  const stay = () => place.settle(false)
  return (
    <Dialog
      role="alertdialog"
      title={t('leave_title')}
      text={t('leave_text')}
      onClose={stay}
      actions={
        <>
          <Button onClick={stay}>{t('leave_stay')}</Button>
          <Button tone="danger" onClick={() => draft.discard()}>
            {t('leave_discard')}
          </Button>
          <Button
            tone="primary"
            busy={isSending && t('saving')}
            onClick={() => void save().then((saved) => saved || stay())}
          >
            {t('leave_save')}
          </Button>
        </>
      }
    />
  )
}
