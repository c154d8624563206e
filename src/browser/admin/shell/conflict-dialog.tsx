import { useSyncExternalStore } from 'react'
import { editOf, type OptionChange } from '../options/option-changes.ts'
import { nameOfKey, nameOfValue } from '../options/option-words.ts'
import type { Conflict } from '../options/saving.ts'
import { OPTIONS_KEY } from '../options/use-options.ts'
import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/feedback/dialog.tsx'
import { draft, queries, saving } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

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
