import { Icon } from '../parts/icon.tsx'
import { Panel } from '../parts/panel.tsx'
import { vars } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { SupportLinks } from './support-links.tsx'
import { SupportReport } from './support-report.tsx'

const QUESTIONS: readonly (readonly [TextKey, TextKey])[] = [
  ['s_q_lost', 's_a_lost'],
  ['s_q_change', 's_a_change'],
  ['s_q_one', 's_a_one'],
  ['s_q_leak', 's_a_leak'],
]

/** Renders answers to common questions, and the report for support requests. */
export function SupportTab() {
  const t = useTexts()
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
      <SupportReport />
    </div>
  )
}
