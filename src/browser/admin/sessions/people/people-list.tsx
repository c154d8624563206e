import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { Failed } from '../../parts/feedback/failed.tsx'
import { locale } from '../../texts/locale.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { ConfirmEverywhere } from '../confirm-everywhere.tsx'
import { RefreshButton } from '../table/refresh-button.tsx'
import { TableBar } from '../table/table-bar.tsx'
import { RowBones } from '../table/table-skeleton.tsx'
import { useRowCount } from '../table/use-row-count.ts'
import { useSlices } from '../table/use-slices.ts'
import { useSteadyClicks } from '../table/use-steady-clicks.ts'
import { useStillRows } from '../table/use-still-rows.ts'
import { PeopleTable } from './people-table.tsx'
import { useEndPerson } from './use-end-person.ts'
import { PAGE_SIZE, type PeopleView, type SignedInPerson, usePeople, usePeopleSummary } from './use-people.ts'

type Found = ReturnType<typeof usePeople>

/** Renders the list of people, or why there is none. */
export function PeopleList({ view }: { view: PeopleView }) {
  const found = usePeople(view)
  const { data, error, refetch, isFetching } = found
  if (data) return <People view={view} found={found} data={data} />
  if (error) return <Failed error={error} fallback="sessions_failed" retry={refetch} isRetrying={isFetching} />
  return <RowBones />
}

const keyOf = ({ user }: SignedInPerson) => JSON.stringify(user.id)

/** Renders people whose rows keep their places until the list is read again on demand. */
function People({ view, found, data }: { view: PeopleView; found: Found; data: NonNullable<Found['data']> }) {
  const t = useTexts()
  const { error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch, isFetching, dataUpdatedAt } = found
  const { data: summary } = usePeopleSummary()
  const {
    rows,
    waiting,
    show: showRows,
    end,
  } = useStillRows(data.people, keyOf, {
    pages: data.pages,
    isWhole: !hasNextPage,
  })
  const person = useEndPerson((user) => end((key) => key === JSON.stringify(user.id)))
  const drawn = useSlices(rows.length)
  const keepSteady = useSteadyClicks(rows.map(({ key }) => key).join())
  const number = new Intl.NumberFormat(locale)
  const [count, show] = useRowCount(PAGE_SIZE)
  // The server looks at a bounded number of people for each page, and may find none among them.
  const isSearching = rows.length === 0 && hasNextPage
  const isShort = isSearching || (hasNextPage && data.pages * PAGE_SIZE < count)
  useEffect(() => {
    if (isShort && !isFetchingNextPage && !error) void fetchNextPage()
  }, [isShort, isFetchingNextPage, error, fetchNextPage])
  if (isSearching) return <RowBones />
  if (rows.length === 0 && waiting === 0) {
    return view.show === 'all' ? (
      <Empty icon="desktop" title={t('nobody')}>
        {t('nobody_help')}
      </Empty>
    ) : (
      <Empty icon="search" title={t('nobody_matches')} />
    )
  }
  function more(): void {
    show((data.pages + 1) * PAGE_SIZE)
    // After a failure, nothing else asks again.
    void fetchNextPage()
  }

  const total = view.show === 'all' ? summary?.people : undefined
  const ofTotal = number.format(Math.max(total ?? 0, rows.length))
  return (
    <>
      <div className={error ? 'table-card stale' : 'table-card'} onClickCapture={keepSteady}>
        <TableBar
          updatedAt={dataUpdatedAt}
          isFailing={error !== null}
          news={waiting > 0 && t(countKey('waiting_people', waiting), { count: waiting })}
          onShow={() => showRows(data.people)}
        >
          <RefreshButton
            isReading={isFetching && !isFetchingNextPage}
            onRefresh={() => void refetch().then((answer) => answer.data && showRows(answer.data.people))}
          />
        </TableBar>
        <PeopleTable rows={rows} drawn={drawn} onEndAll={person.ask} />
      </div>
      {hasNextPage && drawn === rows.length && (
        <p className="more-rows">
          {total === undefined
            ? t('shown', { shown: number.format(rows.length) })
            : t('shown_of', {
                shown: number.format(rows.length),
                count: summary?.exact === false ? t('about', { count: ofTotal }) : ofTotal,
              })}
          <Button tone="quiet" busy={isFetchingNextPage && t('loading')} onClick={more}>
            {t('show_more', { count: PAGE_SIZE })}
          </Button>
        </p>
      )}
      <ConfirmEverywhere found={person.found} onConfirm={person.confirm} onClose={person.close} />
    </>
  )
}
