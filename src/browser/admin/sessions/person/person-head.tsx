import { type ReactNode, useEffect } from 'react'
import { SafeLink } from '../../parts/safe-link.tsx'
import { vars } from '../../screen.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { EverybodyLink } from '../everybody-link.tsx'
import { rememberLookUp } from '../search/look-ups.ts'
import { nameOf, type UserSessions } from '../use-sessions.ts'

const HEADING = 'person'

/** Renders the heading of a user's page: who it is, how many sessions of how many, and actions on all of them. */
export function PersonHead({
  found: { user, limit },
  count,
  children,
}: {
  found: UserSessions
  /** How many sessions are live. */
  count: number
  children: ReactNode
}) {
  const t = useTexts()
  const name = nameOf(user)
  useEffect(() => {
    const ofTab = document.title
    document.title = `${name} – ${ofTab}`
    return () => {
      document.title = ofTab
    }
  }, [name])
  useEffect(() => {
    rememberLookUp({ login: user.login, name })
    // The link that led here is gone.
    if (document.activeElement === document.body) document.getElementById(HEADING)?.focus({ preventScroll: true })
  }, [user.login, name])
  const maximum = limit?.maximum ?? null
  const counted =
    maximum === null
      ? `${t(countKey('live', count), { count })}, ${t('no_limit')}`
      : t(countKey('live_of', maximum), { count, maximum })
  return (
    <>
      <EverybodyLink />
      <div className="list-head">
        <div>
          <div className="facts">
            <h2 id={HEADING} tabIndex={-1}>
              <bdi>{name}</bdi>
            </h2>
            {user.url && <SafeLink href={user.url}>{t('open_in_site')}</SafeLink>}
          </div>
          <p className="facts">
            <bdi>{user.login}</bdi>
            {user.email && <bdi>{user.email}</bdi>}
            <span>{t('user_id', { id: String(user.id) })}</span>
            <span role="status">
              <strong>{counted}</strong>
              {maximum !== null && count > maximum && `, ${t('over_limit')}`}
            </span>
            {limit && maximum !== null && <span>{vars.logics[limit.logic]?.label ?? limit.logic}</span>}
          </p>
        </div>
        <div className="actions">{children}</div>
      </div>
    </>
  )
}
