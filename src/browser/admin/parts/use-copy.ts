import { toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Gives a function that copies a text and says so. It resolves false where the browser does not allow it. */
export function useCopy(): (text: string) => Promise<boolean> {
  const t = useTexts()
  return async (text) => {
    try {
      // There is no clipboard on a page that did not come over https.
      await navigator.clipboard.writeText(text)
      toasts.show(t('s_copied'))
      return true
    } catch {
      toasts.show(t('s_copy_failed'), 'error')
      return false
    }
  }
}
