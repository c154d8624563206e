import { Button } from '../parts/button.tsx'
import { saveFile } from '../parts/export-menu.tsx'
import { Panel } from '../parts/panel.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { useTexts } from '../texts/use-texts.ts'
import { useReport } from './use-report.ts'

const FILE = 'sessmgr-report.txt'

/** Renders the report for support requests, which can be copied or saved. */
export function SupportReport() {
  const t = useTexts()
  const copy = useCopy()
  const report = useReport()

  const save = () => saveFile(new Blob([`${report}\n`], { type: 'text/plain' }), FILE)

  return (
    <Panel title={t('s_report')} help={t('s_report_help')}>
      {/* Keyboard users must be able to reach a box that scrolls. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must take the focus. */}
      <pre className="report" tabIndex={0}>
        {report}
      </pre>
      <div className="actions">
        <Button onClick={() => void copy(report)}>{t('s_copy')}</Button>
        <Button tone="quiet" onClick={save}>
          {t('s_save')}
        </Button>
      </div>
    </Panel>
  )
}
