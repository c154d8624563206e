import { useIsMutating, useMutation } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { RestFailure } from '../rest/rest-failure.ts'
import { useFailureText } from '../rest/use-failure-text.ts'
import { draft, hooks, queries, rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { OPTIONS_KEY, OPTIONS_PATH, type SiteOptions } from './use-options.ts'

/** The one way to save what was edited. */
export interface Save {
  readonly isDirty: boolean
  readonly isSaving: boolean
  /** Saves every edit in one call. Resolves false when it was refused; the edits stay then. */
  save(): Promise<boolean>
}

/** Saves every edited option in one call. */
export function useSave(): Save {
  const t = useTexts()
  const textOf = useFailureText()
  const isDirty = useSyncExternalStore(draft.subscribe, draft.isDirty)
  const isSaving = useIsMutating({ mutationKey: ['save'] }) > 0
  const { mutateAsync } = useMutation({
    mutationKey: ['save'],
    mutationFn: (edits: Readonly<Record<string, unknown>>) => rest.request<SiteOptions>('POST', OPTIONS_PATH, edits),
    onSuccess(stored, sent) {
      // A reading that began before would bring the old values back.
      void queries.cancelQueries({ queryKey: OPTIONS_KEY })
      queries.setQueryData(OPTIONS_KEY, stored)
      draft.settle(sent, stored)
      toasts.show(t('saved'))
      hooks.doAction('sessmgr.admin.saved', Object.keys(sent))
    },
    onError(error) {
      draft.refuse(error instanceof RestFailure ? error.params : {})
      toasts.show(textOf(error, 'save_failed'), 'error')
    },
  })

  async function save(): Promise<boolean> {
    const bad = firstInvalidField()
    if (bad) {
      bad.focus()
      toasts.show(t('save_invalid'), 'error')
      return false
    }
    return mutateAsync(draft.send()).then(
      () => true,
      () => false,
    )
  }
  return { isDirty, isSaving, save }
}

/** A field that the browser calls invalid holds the save up, those of add-ons too; a form of its own looks after itself. */
function firstInvalidField(): HTMLElement | undefined {
  const fields = document.querySelectorAll<HTMLElement>('main :is(input, select, textarea):invalid')
  return [...fields].find((field) => field.closest('form') === null)
}
