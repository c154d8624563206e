import { useIsMutating, useMutation } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { RestFailure } from '../rest/rest-client.ts'
import { useFailureText } from '../rest/use-rest.ts'
import { draft, hooks, queries, rest, saving, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import {
  type Edits,
  editOf,
  type OptionChange,
  optionChanges,
  type ReadOptions,
  type SiteOptions,
} from './option-draft.ts'
import { nameOfKey, nameOfValue } from './option-words.ts'
import { OPTIONS_KEY, readOptions } from './use-options.ts'

/** Saves all edits. */
export interface Save {
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
export function useSave(): Save {
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
 * Returns the first invalid field, including add-on fields, because an invalid field prevents saving. Leaves out
 * fields of separate forms, which check themselves.
 */
function firstInvalidField(): HTMLElement | undefined {
  const fields = document.querySelectorAll<HTMLElement>('main :is(input, select, textarea):invalid')
  return [...fields].find((field) => field.closest('form') === null)
}
