import { Dialog } from 'radix-ui'
import { useEffect, useRef } from 'react'
import { Button } from '../parts/button.tsx'
import { useTexts } from '../texts/use-texts.ts'
import type { Addon } from './use-addons.ts'
import { useLicense } from './use-license.ts'

/** Asks for confirmation before a license is deactivated. */
export function DeactivateLicense({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
  const t = useTexts()
  const { change, isPending, problem } = useLicense(addon, 'l_deactivated', onClose)
  const cancel = useRef<HTMLButtonElement>(null)
  useEffect(() => cancel.current?.focus(), [])
  return (
    <>
      <Dialog.Title className="dialog-title">{t('l_ask_title', { title })}</Dialog.Title>
      <Dialog.Description className="dialog-text">{t('l_ask_text')}</Dialog.Description>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-actions">
        <Dialog.Close asChild>
          <Button ref={cancel}>{t('cancel')}</Button>
        </Dialog.Close>
        <Button tone="danger-solid" busy={isPending && t('l_deactivating')} onClick={() => change(undefined)}>
          {t('l_deactivate')}
        </Button>
      </div>
    </>
  )
}
