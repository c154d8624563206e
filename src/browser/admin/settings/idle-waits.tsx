import { useQuery } from '@tanstack/react-query'
import { rest } from '../screen.ts'
import { timeSpan } from '../sessions/time-words.ts'
import { useTexts } from '../texts/use-texts.ts'

interface OwnSessions {
  readonly sessions: readonly {
    readonly current: boolean
    /** In milliseconds. */
    readonly last_seen_at: number
    /** In milliseconds. */
    readonly expires_at: number
  }[]
}

/** Explains that an unused session keeps its place until it ends, and when the one of this user would. */
export function IdleWaits() {
  const t = useTexts()
  const { data } = useQuery({
    queryKey: ['own-sessions'],
    queryFn: () => rest.request<OwnSessions>('GET', 'sessmgr/v1/me/sessions'),
    retry: false,
  })
  const own = Array.isArray(data?.sessions) ? data.sessions.find(({ current }) => current) : undefined
  return (
    <strong>
      {t('idle_waits')} {own && t('idle_waits_own', { time: timeSpan(own.expires_at - own.last_seen_at) })}
    </strong>
  )
}
