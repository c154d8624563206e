import { useEffect } from 'react'
import { leaveEverybody } from '../return-focus.ts'
import { TableSkeleton } from '../table/table-skeleton.tsx'
import { useSessions } from '../use-sessions.ts'
import { NotListed } from './not-listed.tsx'
import { PersonSessions } from './person-sessions.tsx'

/** Renders the page of one user. `user` is an id, an email address or a login name. */
export function PersonPage({ user }: { user: string }) {
  useEffect(leaveEverybody, [])
  const list = useSessions(user)
  const { data, error, refetch, isFetching } = list
  if (data) return <PersonSessions user={user} found={data} list={list} />
  if (error) return <NotListed user={user} error={error} retry={refetch} isRetrying={isFetching} />
  return <TableSkeleton isPerson />
}
