import { useMutation } from '@tanstack/react-query'
import { Button } from '../parts/button.tsx'
import { Toggle } from '../parts/forms/toggle.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the settings of the cache, and the button that clears it. */
export function CachePanel({
  isOn,
  isChanged,
  onChange,
}: {
  isOn: boolean
  isChanged: boolean
  onChange: (isOn: boolean) => void
}) {
  const t = useTexts()
  const textOf = useFailureText()
  const { mutate, isPending } = useMutation({
    mutationFn: () => rest.requestObject<{ message?: string }>('DELETE', 'lazycomments/v1/cache'),
    onSuccess: ({ body }) => toasts.show(body.message || t('c_clear_done')),
    onError: (error) => toasts.show(textOf(error, 'c_clear_failed'), 'error'),
  })
  return (
    <Panel title={t('c_cache')} help={t('c_cache_help')}>
      <Toggle
        label={t('c_cache_on')}
        help={t('c_cache_on_help')}
        checked={isOn}
        isChanged={isChanged}
        onChange={onChange}
      />
      <div className="actions">
        <Button busy={isPending && t('c_clear_busy')} onClick={() => mutate()}>
          {t('c_clear')}
        </Button>
      </div>
    </Panel>
  )
}
