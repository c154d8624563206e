import {
  type KeyboardEvent,
  type ReactNode,
  type SyntheticEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useTexts } from '../texts/use-texts.ts'
import { Button } from './button.tsx'
import { EXACT, TextField } from './fields.tsx'

/**
 * Renders a modal dialog, which is open while it is rendered. The focus goes to the element with `data-first-focus`, or
 * else to the first focusable one, and back when the dialog closes.
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
  /** `alertdialog` for a question: a click outside then does not close it. @default 'dialog' */
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
      <h2 id={`${id}-title`}>{title}</h2>
      {text && (
        <div className="dialog-text" id={`${id}-text`} aria-live="polite">
          {text}
        </div>
      )}
      {children}
      <div className="dialog-actions">{actions}</div>
    </dialog>
  )
}

const TAKES_FOCUS = ':is(button, a[href], input, select, textarea, summary, [tabindex="0"]):not(:disabled)'

/** Opens a dialog element over the page while it is rendered, and keeps the focus in it. */
function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)

  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    const first = dialog?.querySelector<HTMLElement>('[data-first-focus]')
    if (dialog) (first ?? partsOf(dialog)[0])?.focus()
    // The browser returns the focus to the element that opened the dialog.
    return () => dialog?.close()
  }, [])

  return {
    ref,
    onCancel(event: SyntheticEvent) {
      if (event.target !== event.currentTarget) return
      event.preventDefault()
      onClose()
    },
    // Browsers close a dialog themselves if a user presses Escape again. A disconnected dialog was closed by this hook.
    onClose: ({ currentTarget }: SyntheticEvent) => currentTarget.isConnected && onClose(),
    onKeyDown: keepFocus,
  }
}

/** Wraps the focus from the last element to the first and back, so that it stays in the dialog. */
function keepFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Tab') return
  const parts = partsOf(event.currentTarget)
  const [from, to] = event.shiftKey ? [parts[0], parts.at(-1)] : [parts.at(-1), parts[0]]
  if (document.activeElement !== from) return
  event.preventDefault()
  to?.focus()
}

function partsOf(dialog: HTMLElement): HTMLElement[] {
  return [...dialog.querySelectorAll<HTMLElement>(TAKES_FOCUS)].filter((part) => part.checkVisibility())
}

/** The confirmation before an action that cannot be undone. */
export interface Question {
  readonly title: string
  readonly text: ReactNode
  /** Label of the confirm button. */
  readonly action: string
  /** What the user must type before the button works, and the label of that field. */
  readonly typed?: { readonly label: string; readonly text: string }
}

/**
 * Asks for confirmation before an action that cannot be undone.
 *
 * @returns The function that asks about a subject, and the dialog while it is open.
 */
export function useConfirm<T extends object>(questionOn: (subject: T) => Question, onConfirm: (subject: T) => void) {
  const t = useTexts()
  const [subject, ask] = useState<T>()
  const [text, setText] = useState('')
  const close = () => {
    setText('')
    ask(undefined)
  }
  if (!subject) return [ask as (subject: T) => void, undefined] as const
  const { title, text: about, action, typed } = questionOn(subject)
  function confirm(confirmed: T): void {
    close()
    onConfirm(confirmed)
  }
  const dialog = (
    <Dialog
      role="alertdialog"
      title={title}
      text={about}
      onClose={close}
      actions={
        <>
          <Button onClick={close} data-first-focus>
            {t('cancel')}
          </Button>
          <Button tone="danger-solid" disabled={typed && text.trim() !== typed.text} onClick={() => confirm(subject)}>
            {action}
          </Button>
        </>
      }
    >
      {typed && <TextField label={typed.label} value={text} onChange={setText} {...EXACT} />}
    </Dialog>
  )
  return [ask as (subject: T) => void, dialog] as const
}
