import { useEffect, useSyncExternalStore } from 'react'
import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/feedback/dialog.tsx'
import { draft, place } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

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
