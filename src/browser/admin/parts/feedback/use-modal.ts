import { type KeyboardEvent, type SyntheticEvent, useLayoutEffect, useRef } from 'react'

const TAKES_FOCUS = ':is(button, a[href], input, select, textarea, summary, [tabindex="0"]):not(:disabled)'

/** Opens a dialog element over the page while it is rendered, and keeps the focus in it. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)

  useLayoutEffect(() => {
    const dialog = ref.current
    const opener = document.activeElement
    dialog?.showModal()
    const first = dialog?.querySelector<HTMLElement>('[data-first-focus]')
    if (dialog) (first ?? partsOf(dialog)[0])?.focus()
    return () => {
      // Until then, nothing outside can take the focus.
      dialog?.close()
      returnFocus(opener)
    }
  }, [])

  return {
    ref,
    onCancel(event: SyntheticEvent) {
      if (event.target !== event.currentTarget) return
      event.preventDefault()
      onClose()
    },
    // Browsers close a dialog on their own if a user insists. A dialog that is no longer rendered has closed itself.
    onClose: ({ currentTarget }: SyntheticEvent) => currentTarget.isConnected && onClose(),
    onKeyDown: keepFocus,
  }
}

/** Moves the focus from the last element to the first, and back, instead of out of the page. */
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

/** Moves the focus to the element that opened the dialog, or to the content if that is gone. */
function returnFocus(opener: Element | null): void {
  const content = document.getElementById('content')
  for (const target of [opener, content]) {
    if (target === document.body || !(target instanceof HTMLElement)) continue
    target.focus({ preventScroll: true })
    if (document.activeElement === target) return
  }
}
