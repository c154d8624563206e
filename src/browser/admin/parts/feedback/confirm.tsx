import type { ReactNode } from 'react'
import { useTexts } from '../../texts/use-texts.ts'
import { Button } from '../button.tsx'
import { Dialog } from './dialog.tsx'

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({
  open,
  title,
  children,
  action,
  onConfirm,
  onClose,
}: {
  open: boolean
  title: string
  children: ReactNode
  /** Label of the confirm button. */
  action: string
  onConfirm: () => void
  onClose: () => void
}) {
  const t = useTexts()
  if (!open) return null
  function confirm(): void {
    onClose()
    onConfirm()
  }
  return (
    <Dialog
      role="alertdialog"
      title={title}
      text={children}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button tone="danger-solid" onClick={confirm}>
            {action}
          </Button>
        </>
      }
    />
  )
}
