import { useFailureText } from '../../rest/use-failure-text.ts'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'
import { Button } from '../button.tsx'
import { Notice } from './notice.tsx'

/** Says that something could not be loaded, and lets one try again. Whoever is signed out has been told so already. */
export function Failed({
  error,
  fallback = 'load_failed',
  retry,
  isRetrying = false,
}: {
  error: unknown
  fallback?: TextKey
  retry: () => unknown
  isRetrying?: boolean
}) {
  const t = useTexts()
  const textOf = useFailureText()
  if (useSignedIn() !== 'yes') return null
  return (
    <Notice
      tone="error"
      title={t('failed_title')}
      actions={
        <Button icon="refresh" busy={isRetrying && t('loading')} onClick={() => retry()}>
          {t('retry')}
        </Button>
      }
    >
      {textOf(error, fallback)}
    </Notice>
  )
}
