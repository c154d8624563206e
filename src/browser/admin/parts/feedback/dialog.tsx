import { type ReactNode, useId } from 'react'
import { useModal } from './use-modal.ts'

/**
 * Renders a modal dialog, which is open while it is rendered. The focus goes to the element with `data-first-focus`, or
 * else to the first one that takes it, and afterwards back to where it was.
 */
export function Dialog({
  title,
  text,
  children,
  actions,
  role = 'dialog',
  onClose,
}: {
  title: ReactNode
  /** What the dialog is about, which screen readers read out when it opens. */
  text?: ReactNode
  children?: ReactNode
  actions: ReactNode
  /** `alertdialog` for a question: a click beside it then does not close it. @default 'dialog' */
  role?: 'dialog' | 'alertdialog' | undefined
  /** Called when the user closes the dialog, other than by an action. */
  onClose: () => void
}) {
  const id = useId()
  const modal = useModal(onClose)
  return (
    <dialog
      {...modal}
      className="dialog"
      role={role}
      closedby={role === 'dialog' ? 'any' : 'closerequest'}
      aria-labelledby={`${id}-title`}
      aria-describedby={text ? `${id}-text` : undefined}
    >
      <h2 className="dialog-title" id={`${id}-title`}>
        {title}
      </h2>
      {text && (
        <div className="dialog-text" id={`${id}-text`}>
          {text}
        </div>
      )}
      {children}
      <div className="dialog-actions">{actions}</div>
    </dialog>
  )
}
