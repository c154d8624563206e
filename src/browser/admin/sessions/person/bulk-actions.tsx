import { Button } from '../../parts/button.tsx'
import { useOnline } from '../../rest/use-online.ts'
import { useTexts } from '../../texts/use-texts.ts'

/** Renders the buttons for the selected sessions. */
export function BulkActions({
  count,
  isEnding,
  onClear,
  onEnd,
}: {
  count: number
  isEnding: boolean
  onClear: () => void
  onEnd: () => void
}) {
  const t = useTexts()
  const isOnline = useOnline()
  return (
    <>
      <Button tone="quiet" onClick={onClear}>
        {t('clear')}
      </Button>
      <Button tone="danger" disabled={!isOnline} busy={isEnding && t('end_one_busy')} onClick={onEnd}>
        {t('end_chosen', { count })}
      </Button>
    </>
  )
}
