import { useOption } from '../options/use-option.ts'
import { Choice } from '../parts/forms/choice.tsx'
import { NumberField } from '../parts/forms/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { vars } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

interface LimitSettings {
  readonly maximum: unknown
  readonly logic: string
}

/** Renders the settings of the limit. */
export function GeneralPanel() {
  const t = useTexts()
  const [settings, change, { problems, changed }] = useOption<LimitSettings>('sessmgr_settings')
  if (!settings) return null
  const logics = Object.entries(vars.logics).map(([value, { label, desc }]) => ({ value, label, help: desc }))
  return (
    <Panel title={t('general')} help={t('general_help')}>
      <NumberField
        label={t('maximum')}
        help={t('maximum_help')}
        minimum={1}
        value={settings.maximum}
        problem={problems.maximum}
        isChanged={changed.includes('maximum')}
        onChange={(maximum) => change({ maximum })}
      />
      <Choice
        label={t('logic')}
        help={t('logic_help')}
        value={settings.logic}
        options={logics}
        isChanged={changed.includes('logic')}
        onChange={(logic) => change({ logic })}
      />
    </Panel>
  )
}
