import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/feedback/dialog.tsx'
import { useTexts } from '../texts/use-texts.ts'
import type { Addon } from './use-addons.ts'
import { useLicense } from './use-license.ts'

/** Asks for confirmation before a license is deactivated. */
export function DeactivateLicense({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
  const t = useTexts()
  const { change, isPending, problem } = useLicense(addon, 'l_deactivated', onClose)
  return (
    <Dialog
      role="alertdialog"
      title={t('l_ask_title', { title })}
      text={t('l_ask_text')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button tone="danger-solid" busy={isPending && t('l_deactivating')} onClick={() => change(undefined)}>
            {t('l_deactivate')}
          </Button>
        </>
      }
    >
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  )
}
