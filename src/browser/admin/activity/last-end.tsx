import { useQuery } from '@tanstack/react-query'
import { rest } from '../screen.ts'
import { timeAgo } from '../sessions/time-words.ts'
import type { Person } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { whatHappened } from './event-words.ts'
import { type ActivityEvent, queryOf } from './use-activity.ts'

/** Renders when and why a user's last session ended, if the activity log knows. */
export function LastEnd({ user: { id, login } }: { user: Person }) {
  const t = useTexts()
  const query = queryOf({ type: 'session.ended', user: login || String(id) }, { limit: '1' })
  const { data } = useQuery({
    queryKey: ['activity', 'last-end', id],
    queryFn: () => rest.request<{ readonly events: readonly ActivityEvent[] }>('GET', `sessmgr/v1/audit?${query}`),
    retry: false,
  })
  const [event] = Array.isArray(data?.events) ? data.events : []
  // The login name of one user can be the id of another.
  if (!event || event.user?.id !== id) return null
  return (
    <>
      <br />
      {t('last_end', { what: whatHappened(t, event), when: timeAgo(event.at) })}
    </>
  )
}
