import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { PEOPLE_PER_PAGE } from '../../../../features/admin/screen-tabs.ts'
import { useConfirm } from '../../parts/dialog.tsx'
import { Empty, Failed, RowBones } from '../../parts/feedback.tsx'
import { useFailureText } from '../../rest/use-rest.ts'
import { queries, rest, toasts } from '../../screen.ts'
import { locale } from '../../texts/locale.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { useSignOut } from '../sign-out.tsx'
import { ListTable, MoreRows } from '../table/list-table.tsx'
import { type StillRow, useRowCount, useStillRows } from '../table/rows.ts'
import { TableCard, useSteadyClicks } from '../table/table-card.tsx'
import { nameOf, type Person, SESSIONS_KEY } from '../use-sessions.ts'
import { PersonRow } from './person-row.tsx'
import { type PeopleView, type SignedInPerson, usePeople, usePeopleSummary } from './use-people.ts'

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
  const { error, hasNextPage, fetchNextPage, isFetchingNextPage, isFetching } = found
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
  const endRow = ({ id }: Person) => end((key) => key === JSON.stringify(id))
  const signOut = useSignOut(endRow)
  const [askErase, eraseDialog] = useErasePerson(endRow)
  const keepSteady = useSteadyClicks(rows.map(({ key }) => key).join())
  const number = new Intl.NumberFormat(locale)
  const [count, show] = useRowCount(PEOPLE_PER_PAGE)
  // The server looks at a bounded number of people for each page, and may find none among them.
  const isSearching = rows.length === 0 && hasNextPage
  const isShort = isSearching || (hasNextPage && data.pages * PEOPLE_PER_PAGE < count)
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
    show((data.pages + 1) * PEOPLE_PER_PAGE)
    // After a failure, nothing else asks again.
    void fetchNextPage()
  }

  const total = view.show === 'all' ? summary?.people : undefined
  const ofTotal = number.format(Math.max(total ?? 0, rows.length))
  return (
    <>
      <TableCard
        list={found}
        isReading={isFetching && !isFetchingNextPage}
        news={waiting > 0 && t(countKey('waiting_people', waiting), { count: waiting })}
        onShow={() => showRows(data.people)}
        onRefresh={({ people }) => showRows(people)}
        onClickCapture={keepSteady}
      >
        <PeopleTable
          rows={rows}
          more={
            hasNextPage && (
              <MoreRows label={t('show_more', { count: PEOPLE_PER_PAGE })} isBusy={isFetchingNextPage} onMore={more}>
                {total === undefined
                  ? t('shown', { shown: number.format(rows.length) })
                  : t('shown_of', {
                      shown: number.format(rows.length),
                      count: summary?.exact === false ? t('about', { count: ofTotal }) : ofTotal,
                    })}
              </MoreRows>
            )
          }
          onEndAll={signOut.find}
          onErase={askErase}
        />
      </TableCard>
      {signOut.dialog}
      {eraseDialog}
    </>
  )
}

/** Renders who is signed in, as a table that the arrow keys move in. */
function PeopleTable({
  rows,
  more,
  onEndAll,
  onErase,
}: {
  rows: readonly StillRow<SignedInPerson>[]
  more: ReactNode
  onEndAll: (login: string) => void
  onErase: (user: Person) => void
}) {
  const t = useTexts()
  return (
    <ListTable
      label={t('people')}
      className="people-table"
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
      rows={rows}
      onDelete={({ user }) => navigator.onLine && onEndAll(user.login)}
      step={PEOPLE_PER_PAGE}
      more={more}
    >
      {(row, isCurrent) => (
        <PersonRow key={row.key} row={row} isCurrent={isCurrent} onEndAll={onEndAll} onErase={onErase} />
      )}
    </ListTable>
  )
}

/** Erases one person, after a dialog. */
function useErasePerson(onErased: (user: Person) => void) {
  const t = useTexts()
  const textOf = useFailureText()
  const { mutate } = useMutation({
    mutationFn: ({ id }: Person) =>
      rest.request<{ events: number | null }>('POST', 'sessmgr/v1/users/erase', { id: String(id) }),
    onSuccess({ events }, erased) {
      onErased(erased)
      toasts.show(t(events === null ? 'erase_done_but' : 'erase_done', { name: nameOf(erased) }))
      // Users may have erased themselves.
      void rest.check().catch(() => {})
    },
    onError: (error) => toasts.show(textOf(error, 'erase_failed'), 'error'),
    onSettled: () => queries.invalidateQueries({ queryKey: SESSIONS_KEY }),
  })
  return useConfirm((user: Person) => {
    const name = nameOf(user)
    return {
      title: t('erase_title', { name }),
      action: t('erase_action'),
      text: (
        <>
          <p>{t('erase_text', { name })}</p>
          <p>{t('erase_account', { name })}</p>
          <p>
            <strong>{t('erase_final')}</strong>
          </p>
        </>
      ),
    }
  }, mutate)
}
