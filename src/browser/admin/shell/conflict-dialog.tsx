import { AlertDialog } from 'radix-ui'
import { useSyncExternalStore } from 'react'
import { editOf, type OptionChange } from '../options/option-changes.ts'
import { nameOfKey, nameOfValue } from '../options/option-words.ts'
import type { Conflict } from '../options/saving.ts'
import { OPTIONS_KEY } from '../options/use-options.ts'
import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { useFocusReturn } from '../parts/use-focus-return.ts'
import { draft, queries, saving } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Asks whose values to keep if another user has changed the same ones. Escape changes nothing. */
export function ConflictDialog() {
  const t = useTexts()
  const focus = useFocusReturn()
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

  return (
    <AlertDialog.Root open={conflict !== undefined} onOpenChange={(open) => open || close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="overlay" />
        {conflict && (
          <AlertDialog.Content className="dialog" {...focus}>
            <AlertDialog.Title className="dialog-title">{t('conflict_title')}</AlertDialog.Title>
            <AlertDialog.Description asChild>
              <div className="dialog-text">
                {conflict.changes.map((change) => (
                  <p key={`${change.option}.${change.key}`}>{say(change)}</p>
                ))}
              </div>
            </AlertDialog.Description>
            <div className="dialog-actions">
              <Button data-first-focus onClick={() => decide(conflict, false)}>
                {t('conflict_theirs')}
              </Button>
              <Button tone="primary" onClick={() => decide(conflict, true)}>
                {t('conflict_mine')}
              </Button>
            </div>
          </AlertDialog.Content>
        )}
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

function withChanges(body: Conflict['known']['body'], changes: readonly OptionChange[]): Conflict['known']['body'] {
  const next: Record<string, unknown> = { ...body }
  for (const { option, key, after } of changes) {
    next[option] = key === '' ? after : { ...(next[option] as object), [key]: after }
  }
  return next
}
