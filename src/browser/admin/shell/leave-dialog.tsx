import { AlertDialog } from 'radix-ui'
import { useEffect, useSyncExternalStore } from 'react'
import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { useFocusReturn } from '../parts/use-focus-return.ts'
import { draft, place } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Asks about unsaved changes when the user opens another tab. */
export function LeaveDialog() {
  const t = useTexts()
  const focus = useFocusReturn()
  const isOpen = useSyncExternalStore(place.subscribe, place.pending) !== undefined
  const { isDirty, save, isSaving } = useSave()
  useEffect(() => {
    // The changes were discarded or saved in the meantime, so there is nothing left to ask.
    if (isOpen && !isDirty) place.settle(true)
  }, [isOpen, isDirty])

  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(next) => next || place.settle(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="overlay" />
        <AlertDialog.Content className="dialog" {...focus}>
          <AlertDialog.Title className="dialog-title">{t('leave_title')}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-text">{t('leave_text')}</AlertDialog.Description>
          <div className="dialog-actions">
            <AlertDialog.Cancel asChild>
              <Button>{t('leave_stay')}</Button>
            </AlertDialog.Cancel>
            <Button tone="danger" onClick={draft.discard}>
              {t('leave_discard')}
            </Button>
            <Button
              tone="primary"
              busy={isSaving && t('saving')}
              onClick={() => void save().then((saved) => saved || place.settle(false))}
            >
              {t('leave_save')}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
