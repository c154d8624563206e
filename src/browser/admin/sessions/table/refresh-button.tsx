import { Button } from '../../parts/button.tsx'
import { useTexts } from '../../texts/use-texts.ts'

/** Renders the button that reads a list again, and removes what has ended. */
export function RefreshButton({ isReading, onRefresh }: { isReading: boolean; onRefresh: () => void }) {
  const t = useTexts()
  return (
    <Button tone="quiet" icon="refresh" busy={isReading && t('refresh')} onClick={onRefresh}>
      {t('refresh')}
    </Button>
  )
}
