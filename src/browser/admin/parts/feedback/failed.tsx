import { useFailureText } from '../../rest/use-failure-text.ts'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'
import { Button } from '../button.tsx'
import { Notice } from './notice.tsx'

/**
 * Explains that something could not be loaded, with a button to retry. Shows nothing if the user has been signed out.
 */
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
