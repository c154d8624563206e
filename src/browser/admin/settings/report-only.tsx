import { useOptions } from '../options/use-options.ts'
import { Notice } from '../parts/feedback/notice.tsx'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the banner that is shown while the saved settings do not enforce the limit. */
export function ReportOnly() {
  const t = useTexts()
  const settings = useOptions().data?.sessmgr_settings as { enforce?: boolean } | undefined
  if (settings?.enforce !== false) return null
  return (
    <Notice tone="warning" title={t('report_only')}>
      {t('report_only_help')}
    </Notice>
  )
}
