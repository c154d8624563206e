import { useEffect } from 'react'

const FIELDS = 'input:not([type=checkbox]), select, textarea, dialog'

/** Calls `action` when a key is pressed anywhere but in a field or a dialog. */
export function useKey(key: string, action: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isField = event.target instanceof Element && event.target.closest(FIELDS)
      if (event.key !== key || isField || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [key, action])
}
