import { useSave } from '../options/use-save.ts'
import { Button } from '../parts/button.tsx'
import { draft } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const TABS_WITH_OPTIONS = ['settings', 'comments']

/** Draws the one button that saves everything that was edited: where there are options, and wherever an edit is open. */
export function SaveBar({ tab }: { tab: string | undefined }) {
  const t = useTexts()
  const { isDirty, isSaving, save } = useSave()
  if (!isDirty && !TABS_WITH_OPTIONS.includes(tab ?? '')) return null
  return (
    <div className={isDirty ? 'save-bar dirty' : 'save-bar'}>
      <p role="status">{isDirty && t('unsaved')}</p>
      {isDirty && (
        <Button tone="quiet" disabled={isSaving} onClick={draft.discard}>
          {t('discard')}
        </Button>
      )}
      <Button tone="primary" disabled={!isDirty} busy={isSaving && t('saving')} onClick={() => void save()}>
        {t('save')}
      </Button>
    </div>
  )
}
