import { useMutation } from '@tanstack/react-query'
import { useOption, useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Failed, Notice, Skeleton } from '../parts/feedback.tsx'
import { Choice, NumberField, TextField, Toggle } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-rest.ts'
import { rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Name of the option, which only exists on sites with lazy comments. */
const COMMENTS_OPTION = 'lazycomments_settings'

/** The settings of the lazy comments while they are being edited. */
interface CommentSettings {
  readonly load_method: string
  readonly button_text: string
  readonly button_style: string
  readonly button_class: string
  readonly show_loader: boolean
  readonly minimum_count: unknown
  readonly disable_for_bots: boolean
  readonly cache_enabled: boolean
}

/** Renders the settings of the lazy comments. */
export function CommentsTab() {
  const t = useTexts()
  const { error, refetch, isFetching } = useOptions()
  const [settings, change, { changed }] = useOption<CommentSettings>(COMMENTS_OPTION)
  if (!settings) return error ? <Failed error={error} retry={refetch} isRetrying={isFetching} /> : <Skeleton />
  return (
    <div className="stack">
      <Panel title={t('c_loading')} help={t('c_loading_help')}>
        <Choice
          label={t('c_method')}
          value={settings.load_method}
          isChanged={changed.includes('load_method')}
          options={[
            { value: 'scroll', label: t('c_scroll'), help: t('c_scroll_help') },
            { value: 'click', label: t('c_click'), help: t('c_click_help') },
            { value: 'off', label: t('c_off'), help: t('c_off_help') },
          ]}
          onChange={(load_method) => change({ load_method })}
        />
        <NumberField
          label={t('c_minimum')}
          help={t('c_minimum_help')}
          minimum={1}
          value={settings.minimum_count}
          isChanged={changed.includes('minimum_count')}
          onChange={(minimum_count) => change({ minimum_count })}
        />
        <Toggle
          label={t('c_loader')}
          help={t('c_loader_help')}
          checked={settings.show_loader}
          isChanged={changed.includes('show_loader')}
          onChange={(show_loader) => change({ show_loader })}
        />
        <Toggle
          label={t('c_bots')}
          help={t('c_bots_help')}
          checked={settings.disable_for_bots}
          isChanged={changed.includes('disable_for_bots')}
          onChange={(disable_for_bots) => change({ disable_for_bots })}
        />
      </Panel>
      <Panel title={t('c_button')} help={t('c_button_help')}>
        {settings.load_method !== 'click' && <Notice>{t('c_button_unused', { method: t('c_click') })}</Notice>}
        <TextField
          label={t('c_text')}
          help={t('c_text_help')}
          value={settings.button_text}
          isChanged={changed.includes('button_text')}
          maxLength={200}
          onChange={(button_text) => change({ button_text })}
        />
        <Choice
          label={t('c_style')}
          value={settings.button_style}
          isChanged={changed.includes('button_style')}
          options={[
            { value: 'theme', label: t('c_theme'), help: t('c_theme_help') },
            { value: 'custom', label: t('c_custom'), help: t('c_custom_help') },
          ]}
          onChange={(button_style) => change({ button_style })}
        />
        <TextField
          label={t('c_class')}
          help={t('c_class_help')}
          value={settings.button_class}
          isChanged={changed.includes('button_class')}
          maxLength={200}
          spellCheck={false}
          onChange={(button_class) => change({ button_class })}
        />
      </Panel>
      <CachePanel
        isOn={settings.cache_enabled}
        isChanged={changed.includes('cache_enabled')}
        onChange={(cache_enabled) => change({ cache_enabled })}
      />
    </div>
  )
}

/** Renders the settings of the cache, and the button that clears it. */
function CachePanel({
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
