import { useRef } from 'react'

/**
 * Handlers that bring the focus to what a dialog marks with `data-first-focus`, else to its first button; and back, when
 * it closes, to what opened it, or to the content when that is gone.
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
