import { type ReactNode, type Ref, useEffect } from 'react'
import { countKey, useTexts } from '../texts/use-texts.ts'
import type { UserSessions } from './use-sessions.ts'

/** Renders the heading of a list: the user, the number of live sessions, and actions on all of them. */
export function ListHead({
  user,
  heading,
  count,
  updated,
  children,
}: {
  user: UserSessions['user']
  heading: Ref<HTMLHeadingElement>
  count: number
  updated: string
  children: ReactNode
}) {
  const t = useTexts()
  const name = user.display_name || user.login
  useEffect(() => {
    const ofTab = document.title
    document.title = `${name} – ${ofTab}`
    return () => {
      document.title = ofTab
    }
  }, [name])
  return (
    <div className="list-head">
      <div>
        <h2 ref={heading} tabIndex={-1}>
          {name}
        </h2>
        <p className="help">
          {user.login} · {String(user.id)}
        </p>
      </div>
      <div className="list-state">
        <p className="count" role="status">
          <span className={count > 0 ? 'pulse live' : 'pulse'} aria-hidden="true" />
          {count === 0 ? t('live_zero') : t(countKey('live', count), { count })}
        </p>
        <p className="help">{updated}</p>
      </div>
      <div className="actions">{children}</div>
    </div>
  )
}
