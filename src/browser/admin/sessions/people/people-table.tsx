import { useTexts } from '../../texts/use-texts.ts'
import { GridTable } from '../table/grid-table.tsx'
import type { StillRow } from '../table/still-rows.ts'
import { useRowKeys } from '../table/use-row-keys.ts'
import { PersonRow } from './person-row.tsx'
import type { SignedInPerson } from './use-people.ts'

/** Renders who is signed in, as a table that the arrow keys move in. */
export function PeopleTable({
  rows,
  drawn,
  onEndAll,
}: {
  rows: readonly StillRow<SignedInPerson>[]
  /** How many rows to render by now. */
  drawn: number
  onEndAll: (person: SignedInPerson) => void
}) {
  const t = useTexts()
  const keys = useRowKeys(
    rows.map(({ key }) => key),
    (key) => {
      const row = rows.find((one) => one.key === key)
      if (row && !row.isEnded && navigator.onLine) onEndAll(row.item)
    },
  )
  return (
    <GridTable
      label={t('people')}
      className="people-table"
      keys={keys}
      head={
        <>
          <th>{t('person')}</th>
          <th>{t('tab_sessions')}</th>
          <th>{t('devices')}</th>
          <th>{t('last_used')}</th>
          <th>{t('from')}</th>
          <th>
            <span className="unseen">{t('actions')}</span>
          </th>
        </>
      }
    >
      {rows.slice(0, drawn).map((row) => (
        <PersonRow key={row.key} row={row} isCurrent={keys.current === row.key} onEndAll={onEndAll} />
      ))}
    </GridTable>
  )
}
