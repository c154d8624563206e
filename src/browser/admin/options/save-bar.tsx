import { keepPreviousData, useIsMutating, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { RestFailure } from '../rest/rest-client.ts'
import { useFailureText, useSettled } from '../rest/use-rest.ts'
import { draft, hasDirectory, hooks, place, queries, rest, saving, toasts } from '../screen.ts'
import type { PeopleSummary } from '../sessions/people/use-people.ts'
import { locale } from '../texts/locale.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import {
  type Conflict,
  type Edits,
  editOf,
  type OptionChange,
  optionChanges,
  type ReadOptions,
  type SiteOptions,
} from './option-draft.ts'
import { nameOfKey, nameOfValue } from './option-words.ts'
import { OPTIONS_KEY, readOptions, useOptions } from './use-options.ts'

/** Renders the bar that saves all edits and explains whom they affect. Renders nothing without edits. */
export function SaveBar() {
  const t = useTexts()
  const { isDirty, isSaving, save } = useSave()
  const failure = useSyncExternalStore(saving.failure.subscribe, saving.failure.value)
  const bar = useRoom(isDirty)
  useEnter(save)
  useEffect(() => {
    const say = () => saving.failure.value() && saving.failure.become(t('online_again'))
    window.addEventListener('online', say)
    return () => window.removeEventListener('online', say)
  }, [t])
  if (!isDirty) return null

  function discard(): void {
    saving.failure.become(undefined)
    draft.discard()
    toasts.clear()
  }

  return (
    <div className="save-bar" ref={bar}>
      <p role="status" className={failure && 'problem'}>
        {failure ? t('not_saved', { reason: failure }) : t('unsaved')} <LimitChange />
      </p>
      <Button tone="quiet" disabled={isSaving} onClick={discard}>
        {t('discard')}
      </Button>
      <Button tone="primary" busy={isSaving && t('saving')} onClick={() => void save()}>
        {t('save')}
      </Button>
    </div>
  )
}

/**
 * Names a change of the limit, and whom a lower one affects. If the server knows how many users, renders a button that
 * lists them.
 */
function LimitChange() {
  const t = useTexts()
  const { data: options } = useOptions(false)
  const edits = useSyncExternalStore(draft.subscribe, draft.edits)
  const [from, to] = [options?.sessmgr_settings, edits.sessmgr_settings].map(
    (one) => (one as { maximum?: unknown })?.maximum,
  )
  const isChanged = typeof from === 'number' && typeof to === 'number' && to !== from
  const isLower = isChanged && to < from
  const than = String(useSettled(to, PAUSE_MS))
  const { data } = useQuery({
    queryKey: ['people-over', than],
    queryFn: () =>
      rest.request<Pick<PeopleSummary, 'people' | 'exact'>>(
        'GET',
        `sessmgr/v1/people/over?${new URLSearchParams({ maximum: than })}`,
      ),
    placeholderData: keepPreviousData,
    enabled: isLower && hasDirectory && Number(than) >= 1,
    retry: false,
  })
  if (!isChanged) return null
  const change = <strong>{t('limit_change', { from, to })}</strong>
  if (!isLower) return change
  const isKnown = data !== undefined && data.people > 0
  const count = isKnown ? new Intl.NumberFormat(locale).format(data.people) : ''
  return (
    <>
      {change} {isKnown && t(countKey(data.exact ? 'maximum_over' : 'maximum_over_about', data.people), { count })}
      {data?.people === 0 && data.exact ? t('maximum_over_none') : !isKnown && t('maximum_lower')}{' '}
      {isKnown && (
        <button
          type="button"
          className="text-button"
          onClick={() => place.go('sessions', { show: 'over_limit', sort: 'most', than }, true)}
        >
          {t('show_them')}
        </button>
      )}
    </>
  )
}

/** How long to wait for the next digit, in milliseconds. */
const PAUSE_MS = 300

/** Saves when Enter is pressed in a field. Ignores fields in a form, which handles Enter itself. */
function useEnter(save: () => unknown): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { target, key, defaultPrevented, isComposing } = event
      if (key !== 'Enter' || defaultPrevented || isComposing || !(target instanceof Element)) return
      if (!target.matches('main input:is([type=number], [type=text])') || target.closest('form')) return
      // Ask the draft, because the last key may have been pressed before this component renders again.
      if (draft.isDirty() && queries.isMutating({ mutationKey: ['save'] }) === 0) save()
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
      // The button that had the focus is gone.
      if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
    }
  }, [isOver])
  return bar
}

/** Saves all edits. */
interface Save {
  readonly isDirty: boolean
  readonly isSaving: boolean
  /**
   * Saves all edits in one call. If they are refused, keeps them and resolves to false.
   *
   * @param known The options as the user saw them; by default, as the screen last read them.
   */
  save(known?: ReadOptions): Promise<boolean>
}

interface Sent {
  readonly edits: Edits
  readonly known: ReadOptions | undefined
}

/**
 * Saves all edited options in one call. Reports changes that another user made in the meantime, or asks about
 * conflicts.
 */
function useSave(): Save {
  const t = useTexts()
  const textOf = useFailureText()
  const isDirty = useSyncExternalStore(draft.subscribe, draft.isDirty)
  const isSaving = useIsMutating({ mutationKey: ['save'] }) > 0
  const { mutateAsync } = useMutation({
    mutationKey: ['save'],
    mutationFn: send,
    onMutate: () => saving.failure.become(undefined),
    onSuccess(stored, { edits, known }) {
      // A read that began earlier would restore the old values.
      void queries.cancelQueries({ queryKey: OPTIONS_KEY })
      queries.setQueryData(OPTIONS_KEY, stored)
      draft.settle(edits, stored.body)
      const others = known ? optionChanges(known.body, stored.body).filter((change) => !isSent(edits, change)) : []
      saving.mark(others)
      toasts.show([t(others.length > 0 ? 'saved_but' : 'saved'), ...others.map(sayChange)].join(' '))
      hooks.doAction('sessmgr.admin.saved', Object.keys(edits))
    },
    onError(error) {
      draft.refuse(error instanceof RestFailure ? error.params : {})
      // Users who were signed out, or asked about a conflict, already know that nothing was saved.
      const isTold = rest.signedIn() !== 'yes' || saving.conflict.value() !== undefined
      if (!isTold) saving.failure.become(textOf(error, 'save_failed'))
    },
  })

  function sayChange({ option, key, after }: OptionChange): string {
    return t('saved_too', { name: nameOfKey(t, option, key), value: nameOfValue(t, option, key, after) })
  }

  async function save(known = queries.getQueryData<ReadOptions>(OPTIONS_KEY)): Promise<boolean> {
    const bad = firstInvalidField()
    if (bad) {
      bad.focus()
      toasts.show(t('save_invalid'), 'error')
      return false
    }
    return mutateAsync({ edits: draft.send(), known }).then(
      () => true,
      () => false,
    )
  }
  return { isDirty, isSaving, save }
}

/** Sends the edits. If another user has changed the same values, asks which ones to keep, and rejects. */
async function send({ edits, known }: Sent): Promise<ReadOptions> {
  const post = (tag?: string) => rest.requestObject<SiteOptions>('POST', OPTIONS_PATH, edits, tag)
  try {
    return await post(known?.tag)
  } catch (error) {
    if (!known || !(error instanceof RestFailure) || error.code !== 'settings_changed') throw error
    const newest = await readOptions()
    const changes = optionChanges(known.body, newest.body).filter((change) => editOf(edits, change))
    if (changes.length === 0) return post(newest.tag)
    saving.conflict.become({ changes, newest, known })
    throw error
  }
}

function isSent(edits: Edits, { option, key }: OptionChange): boolean {
  const edit = edits[option]
  return option in edits && (key === '' || (typeof edit === 'object' && edit !== null && key in edit))
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
export function LeaveDialog() {
  const t = useTexts()
  const isOpen = useSyncExternalStore(place.subscribe, place.pending) !== undefined
  const { isDirty, save, isSaving } = useSave()
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
          <Button tone="danger" onClick={draft.discard}>
            {t('leave_discard')}
          </Button>
          <Button
            tone="primary"
            busy={isSaving && t('saving')}
            onClick={() => void save().then((saved) => saved || stay())}
          >
            {t('leave_save')}
          </Button>
        </>
      }
    />
  )
}

/** Asks whose values to keep if another user has changed the same ones. Escape changes nothing. */
export function ConflictDialog() {
  const t = useTexts()
  const { save } = useSave()
  const conflict = useSyncExternalStore(saving.conflict.subscribe, saving.conflict.value)
  const close = () => saving.conflict.become(undefined)

  function say(change: OptionChange): string {
    const { option, key, before, after } = change
    const word = (value: unknown) => nameOfValue(t, option, key, value)
    const mine = editOf(draft.edits(), change)
    const values = {
      name: nameOfKey(t, option, key),
      before: word(before),
      after: word(after),
      mine: word(mine?.value),
    }
    return t('conflict_line', values)
  }

  function decide({ changes, newest, known }: Conflict, isMine: boolean): void {
    queries.setQueryData(OPTIONS_KEY, newest)
    for (const { option, key, after } of isMine ? [] : changes) {
      draft.edit(option, newest.body[option], key === '' ? after : { [key]: after })
    }
    close()
    // All other changes are reported when the edits are saved.
    if (draft.isDirty()) void save({ body: withChanges(known.body, changes), tag: newest.tag })
  }

  if (!conflict) return null
  return (
    <Dialog
      role="alertdialog"
      title={t('conflict_title')}
      text={conflict.changes.map((change) => <p key={`${change.option}.${change.key}`}>{say(change)}</p>)}
      onClose={close}
      actions={
        <>
          <Button onClick={() => decide(conflict, false)}>{t('conflict_theirs')}</Button>
          <Button tone="primary" onClick={() => decide(conflict, true)}>
            {t('conflict_mine')}
          </Button>
        </>
      }
    />
  )
}

function withChanges(body: Conflict['known']['body'], changes: readonly OptionChange[]): Conflict['known']['body'] {
  const next: Record<string, unknown> = { ...body }
  for (const { option, key, after } of changes) {
    next[option] = key === '' ? after : { ...(next[option] as object), [key]: after }
  }
  return next
}
