import { toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Returns a function that copies text and shows a confirmation. It resolves to false if the browser refuses. */
export function useCopy(): (text: string) => Promise<boolean> {
  const t = useTexts()
  return async (text) => {
    try {
      // The clipboard needs https or localhost.
      await navigator.clipboard.writeText(text)
      toasts.show(t('s_copied'))
      return true
    } catch {
      toasts.show(t('s_copy_failed'), 'error')
      return false
    }
  }
}
