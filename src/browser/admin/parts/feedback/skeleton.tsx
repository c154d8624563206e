import { useTexts } from '../../texts/use-texts.ts'

/** Renders the outline of loading panels. */
export function Skeleton({ panels = 2, grid = false }: { panels?: number; grid?: boolean }) {
  const t = useTexts()
  const outline = Array.from({ length: panels }, (_, index) => index)
  return (
    <div className={grid ? 'grid' : 'stack'} role="status">
      <span className="unseen">{t('loading')}</span>
      {outline.map((index) => (
        <div className="panel skeleton" key={index} aria-hidden="true">
          <span className="bone wide" />
          <span className="bone" />
          <span className="bone field-bone" />
        </div>
      ))}
    </div>
  )
}
