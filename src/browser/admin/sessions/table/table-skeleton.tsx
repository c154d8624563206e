import { hasDirectory } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8]

/** Renders the outline of the tab while it loads. The server draws the same before the script runs. */
export function TableSkeleton({ isPerson }: { isPerson: boolean }) {
  return (
    <div className="stack">
      <div className={isPerson ? 'title-bones person' : 'title-bones'} />
      {!isPerson && hasDirectory && <div className="figures-bones" />}
      {!isPerson && <div className="search-bones" />}
      {(isPerson || hasDirectory) && <RowBones />}
    </div>
  )
}

/** Renders the outline of a loading table. */
export function RowBones() {
  const t = useTexts()
  return (
    <div className="table-card" role="status">
      <span className="unseen">{t('loading')}</span>
      <div className="table-bar" />
      <div className="head-bones" />
      {ROWS.map((row) => (
        <div className="row-bones" key={row}>
          <span className="bone" />
        </div>
      ))}
    </div>
  )
}
