import { useOptionFields, useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Notice, Pending } from '../parts/feedback.tsx'
import { Choice, NumberField, TextField, Toggle } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useCall } from '../rest/use-call.ts'
import { rest, toasts } from '../screen.ts'
import { COMMENTS_TEXTS } from '../texts/comments-texts.ts'
import { addTexts, useTexts } from '../texts/use-texts.ts'

addTexts(COMMENTS_TEXTS)

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
  const options = useOptions()
  const option = useOptionFields<CommentSettings>(COMMENTS_OPTION)
  if (!option) return <Pending of={options} />
  const { settings, field, toggle } = option
  return (
    <div className="stack">
      <Panel title={t('c_loading')} help={t('c_loading_help')}>
        <Choice
          label={t('c_method')}
          options={[
            { value: 'scroll', label: t('c_scroll'), help: t('c_scroll_help') },
            { value: 'idle', label: t('c_idle'), help: t('c_idle_help') },
            { value: 'click', label: t('c_click'), help: t('c_click_help') },
            { value: 'off', label: t('c_off'), help: t('c_off_help') },
          ]}
          {...field('load_method')}
        />
        <NumberField label={t('c_minimum')} help={t('c_minimum_help')} minimum={1} {...field('minimum_count')} />
        <Toggle label={t('c_loader')} help={t('c_loader_help')} {...toggle('show_loader')} />
        <Toggle label={t('c_bots')} help={t('c_bots_help')} {...toggle('disable_for_bots')} />
      </Panel>
      <Panel title={t('c_button')} help={t('c_button_help')}>
        {settings.load_method !== 'click' && <Notice>{t('c_button_unused', { method: t('c_click') })}</Notice>}
        <TextField label={t('c_text')} help={t('c_text_help')} maxLength={200} {...field('button_text')} />
        <Choice
          label={t('c_style')}
          options={[
            { value: 'theme', label: t('c_theme'), help: t('c_theme_help') },
            { value: 'custom', label: t('c_custom'), help: t('c_custom_help') },
          ]}
          {...field('button_style')}
        />
        <TextField
          label={t('c_class')}
          help={t('c_class_help')}
          maxLength={200}
          spellCheck={false}
          {...field('button_class')}
        />
      </Panel>
      <CachePanel {...toggle('cache_enabled')} />
    </div>
  )
}

/** Renders the settings of the cache, and the button that clears it. */
function CachePanel(props: { checked: boolean; onChange: (checked: boolean) => void }) {
  const t = useTexts()
  const [clear, clearing] = useCall(() => rest.requestObject<{ message?: string }>('DELETE', 'lazycomments/v1/cache'), {
    failed: 'c_clear_failed',
    onSuccess: ({ body }) => toasts.show(body.message || t('c_clear_done')),
  })
  return (
    <Panel title={t('c_cache')} help={t('c_cache_help')}>
      <Toggle label={t('c_cache_on')} help={t('c_cache_on_help')} {...props} />
      <div className="actions">
        <Button busy={clearing.length > 0 && t('c_clear_busy')} onClick={() => clear(undefined)}>
          {t('c_clear')}
        </Button>
      </div>
    </Panel>
  )
}
