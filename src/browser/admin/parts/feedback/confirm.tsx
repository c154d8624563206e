import { AlertDialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTexts } from '../../texts/use-texts.ts'
import { Button } from '../button.tsx'
import { useFocusReturn } from '../use-focus-return.ts'

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
  const focus = useFocusReturn()
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="overlay" />
        <AlertDialog.Content className="dialog" {...focus}>
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="dialog-text">{children}</div>
          </AlertDialog.Description>
          <div className="dialog-actions">
            <AlertDialog.Cancel asChild>
              <Button>{t('cancel')}</Button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button tone="danger-solid" onClick={onConfirm}>
                {action}
              </Button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
