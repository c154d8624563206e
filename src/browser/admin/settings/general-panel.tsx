import { minutesOf } from '../options/option-words.ts'
import { useOption } from '../options/use-option.ts'
import { useOptions } from '../options/use-options.ts'
import { Choice } from '../parts/forms/choice.tsx'
import { NumberField } from '../parts/forms/fields.tsx'
import { Toggle } from '../parts/forms/toggle.tsx'
import { Panel } from '../parts/panel.tsx'
import { vars } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { IdleWaits } from './idle-waits.tsx'
import { LastChange } from './last-change.tsx'
import { OverLimit } from './over-limit.tsx'

interface LimitSettings {
  readonly maximum: unknown
  readonly logic: string
  /** Seconds, or the invalid input as typed. */
  readonly idle_release: unknown
  readonly enforce: boolean
}

/** Renders the settings of the limit. */
export function GeneralPanel() {
  const t = useTexts()
  const [settings, change, { problems, changed }] = useOption<LimitSettings>('sessmgr_settings')
  const stored = useOptions().data?.sessmgr_settings as LimitSettings | undefined
  if (!settings) return null
  const isLower = typeof settings.maximum === 'number' && settings.maximum < Number(stored?.maximum)
  const logics = Object.entries(vars.logics).map(([value, { label, desc }]) => ({ value, label, help: desc }))
  const labelOf = (logic: string) => vars.logics[logic]?.label ?? logic
  const waits = settings.logic === 'block' && settings.idle_release === 0
  return (
    <Panel title={t('general')} help={t('general_help')} aside={<LastChange />}>
      <NumberField
        label={t('maximum')}
        help={
          <>
            {t('maximum_help')} {isLower && <OverLimit maximum={settings.maximum as number} />}
          </>
        }
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
      <NumberField
        label={t('idle')}
        help={
          <>
            {t('idle_help', { block: labelOf('block'), ask: labelOf('ask') })} {waits && <IdleWaits />}
          </>
        }
        minimum={5}
        orZero
        value={minutesOf(settings.idle_release)}
        problem={problems.idle_release}
        isChanged={changed.includes('idle_release')}
        onChange={(minutes) => change({ idle_release: typeof minutes === 'number' ? minutes * 60 : minutes })}
      />
      <Toggle
        label={t('enforce')}
        help={t('enforce_help')}
        checked={settings.enforce}
        isChanged={changed.includes('enforce')}
        onChange={(enforce) => change({ enforce })}
      />
    </Panel>
  )
}
