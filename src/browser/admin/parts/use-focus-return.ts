import { useRef } from 'react'

/**
 * Returns handlers that move the focus into a dialog when it opens, to the element with `data-first-focus` or else to
 * the first button. When it closes, they return the focus to the element that opened it, or else to the content.
 */
export function useFocusReturn() {
  const opener = useRef<Element | null>(null)
  return {
    onOpenAutoFocus: (event: Event) => {
      opener.current = document.activeElement
      const first = (event.target as Element).querySelector('[data-first-focus]')
      if (!(first instanceof HTMLElement)) return
      event.preventDefault()
      first.focus()
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault()
      const target = opener.current?.isConnected ? opener.current : document.getElementById('content')
      if (target instanceof HTMLElement) target.focus({ preventScroll: true })
    },
  }
}
