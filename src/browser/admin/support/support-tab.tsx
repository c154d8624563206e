import { useContext } from 'react'
import { useAddons } from '../addons/use-addons.ts'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Panel } from '../parts/panel.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { nodeVersion, vars } from '../screen.ts'
import { ScreenTabs } from '../shell/entries.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { SupportLinks } from './support-links.tsx'

const QUESTIONS: readonly (readonly [TextKey, TextKey])[] = [
  ['s_q_lost', 's_a_lost'],
  ['s_q_change', 's_a_change'],
  ['s_q_one', 's_a_one'],
  ['s_q_leak', 's_a_leak'],
]

/** Renders answers to common questions, and the report for support requests. */
export function SupportTab() {
  const t = useTexts()
  const tabs = useContext(ScreenTabs)
  const copy = useCopy()
  const { data: options } = useOptions()
  const { data: addons } = useAddons()
  const settings = Object.entries(options?.sessmgr_settings ?? {}).map(([key, value]) => `${key} ${value}`)
  const installed = (Array.isArray(addons?.items) ? addons.items : [])
    .filter((addon) => addon.is_active)
    .map((addon) => `${addon.id} (${addon.is_license_active ? 'licensed' : 'not licensed'})`)
  const report = [
    `${vars.name} ${vars.version} (${vars.slug})`,
    `Node.js: ${nodeVersion}`,
    `Settings: ${settings.join(', ') || 'unknown'}`,
    `Add-ons: ${installed.join(', ') || 'none'}`,
    `REST: ${vars.restUrl}`,
    `Sections: ${tabs.map(({ key }) => key).join(', ')}`,
    `Logics: ${Object.keys(vars.logics).join(', ')}`,
    `Browser: ${navigator.userAgent}`,
    `Language: ${navigator.language}`,
  ].join('\n')

  return (
    <div className="stack">
      <Panel title={t('s_questions')} help={t('s_questions_help')}>
        <div className="questions">
          {QUESTIONS.map(([question, answer]) => (
            <details key={question}>
              <summary>
                <span>{t(question)}</span>
                <Icon name="chevron" />
              </summary>
              <p>{t(answer, { block: vars.logics.block?.label ?? 'block' })}</p>
            </details>
          ))}
        </div>
      </Panel>
      <SupportLinks />
      <Panel title={t('s_report')} help={t('s_report_help')}>
        {/* Keyboard users must be able to reach a box that scrolls. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must take the focus. */}
        <pre className="report" tabIndex={0}>
          {report}
        </pre>
        <div className="actions">
          <Button onClick={() => void copy(report)}>{t('s_copy')}</Button>
        </div>
      </Panel>
    </div>
  )
}
