import { useCallback, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { useOnline } from '../../rest/use-online.ts'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { ConfirmEverywhere } from '../confirm-everywhere.tsx'
import { KeysHelp } from '../keys-help.tsx'
import { goToSearch } from '../return-focus.ts'
import { SessionsExport } from '../sessions-export.tsx'
import { RefreshButton } from '../table/refresh-button.tsx'
import { TableBar } from '../table/table-bar.tsx'
import { useSteadyClicks } from '../table/use-steady-clicks.ts'
import { useKey } from '../use-key.ts'
import { nameOf, type Session, type UserSessions, type useSessions } from '../use-sessions.ts'
import { BulkActions } from './bulk-actions.tsx'
import { ConfirmEnding } from './confirm-ending.tsx'
import { ExplainLimit } from './explain-limit.tsx'
import { PersonHead } from './person-head.tsx'
import { SessionTable } from './session-table.tsx'
import { useEndSessions } from './use-end-sessions.ts'
import { useSelection } from './use-selection.ts'
import { useSortedRows } from './use-sorted-rows.ts'

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Space', 'key_select'],
  ['Shift', 'key_range'],
  ['Delete', 'key_end'],
] as const

/** Renders a user's sessions. Rows keep their places until the list is sorted or read again on demand. */
export function PersonSessions({
  user,
  found,
  list,
}: {
  user: string
  found: UserSessions
  list: Pick<ReturnType<typeof useSessions>, 'error' | 'refetch' | 'isFetching' | 'dataUpdatedAt'>
}) {
  const t = useTexts()
  useKey('/', goToSearch)
  const isOnline = useOnline()
  const { rows, waiting, sort, show, sortBy, end } = useSortedRows(found.sessions)
  const [asking, setAsking] = useState<readonly Session[] | 'all'>()
  const { endOne, endSeveral, endAll, isEnding, isEndingSeveral } = useEndSessions(user, (ended) => {
    const tokens = ended && new Set(ended.map(({ token }) => token))
    end((token) => tokens === undefined || tokens.has(token))
  })
  const keepSteady = useSteadyClicks(rows.map(({ key }) => key).join())
  const live = rows.flatMap(({ item, isEnded }) => (isEnded ? [] : [item]))
  const selection = useSelection(live)
  const chosen = live.filter(({ token }) => selection.tokens.has(token))
  const count = live.length + waiting
  const name = nameOf(found.user)
  const isOwn = live.some(({ current }) => current)
  const others = found.sessions.filter(({ current }) => !current)

  return (
    <>
      <section
        className="stack"
        aria-label={t('sessions_of', { name })}
        inert={useSignedIn() !== 'yes'}
        onClickCapture={keepSteady}
      >
        <PersonHead found={found} count={count}>
          <KeysHelp keys={KEYS} />
          <ExplainLimit user={user} name={name} />
          {rows.length + waiting > 0 && <SessionsExport route="sessions/export" query={{ user }} />}
          {rows.length + waiting > 0 && (
            <Button
              tone="danger"
              disabled={!isOnline || (isOwn ? others.length === 0 : count === 0)}
              busy={isEndingSeveral && t('end_one_busy')}
              onClick={() => setAsking(isOwn ? others : 'all')}
            >
              {t(isOwn ? 'end_others' : 'end_all')}
            </Button>
          )}
        </PersonHead>
        <div className={list.error ? 'table-card stale' : 'table-card'}>
          <TableBar
            selected={chosen.length > 0 && t('selected', { count: chosen.length })}
            updatedAt={list.dataUpdatedAt}
            isFailing={list.error !== null}
            news={waiting > 0 && t(countKey('waiting', waiting), { count: waiting })}
            onShow={() => show(found.sessions)}
          >
            {chosen.length > 0 ? (
              <BulkActions
                count={chosen.length}
                isEnding={isEndingSeveral}
                onClear={() => selection.become([])}
                onEnd={() => setAsking(chosen)}
              />
            ) : (
              <RefreshButton
                isReading={list.isFetching}
                onRefresh={() => void list.refetch().then(({ data }) => data && show(data.sessions))}
              />
            )}
          </TableBar>
          <SessionTable
            user={found.user}
            rows={rows}
            waiting={waiting}
            sort={sort}
            selection={selection}
            isEnding={isEnding}
            onSort={sortBy}
            onEnd={useEndOrAsk(endOne, setAsking)}
            onDelete={(session) => setAsking([session])}
          />
        </div>
      </section>
      <ConfirmEverywhere
        found={asking === 'all' ? found : undefined}
        onConfirm={() => endAll(name)}
        onClose={() => setAsking(undefined)}
      />
      <ConfirmEnding
        sessions={asking === 'all' ? undefined : asking}
        name={name}
        onConfirm={endSeveral}
        onClose={() => setAsking(undefined)}
      />
    </>
  )
}

/** Ends a session at once, but asks first if it is the user's own. */
function useEndOrAsk(endOne: (session: Session) => void, ask: (sessions: readonly Session[]) => void) {
  return useCallback(
    (session: Session) => {
      if (!navigator.onLine) return
      if (session.current) ask([session])
      else endOne(session)
    },
    [endOne, ask],
  )
}
