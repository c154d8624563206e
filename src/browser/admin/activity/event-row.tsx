import { memo } from 'react'
import { Moment } from '../sessions/moment.tsx'
import { PlaceLink } from '../sessions/place-link.tsx'
import { dateAndTime } from '../sessions/time-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { whatHappened, whoDidIt } from './event-words.ts'
import type { ActivityEvent } from './use-activity.ts'

/** Renders one event. */
export const EventRow = memo(function EventRow({ event }: { event: ActivityEvent }) {
  const t = useTexts()
  const { at, type, user, device, ip } = event
  const isRefusal = type === 'login.refused'
  return (
    <tr>
      <td className="event-when">
        <Moment seconds={Math.floor(at / 1000)} />
        <span className="help">{dateAndTime(at)}</span>
      </td>
      <td className="event-who">
        {user?.login !== undefined && (
          <PlaceLink query={{ user: user.login }}>
            <bdi>{nameOf(user)}</bdi>
          </PlaceLink>
        )}
        {/* A deleted user, or one whose id was hashed, cannot be looked up. */}
        {user && user.login === undefined && <bdi>{nameOf(user)}</bdi>}
        {type === 'logout.all' && t('v_everyone')}
      </td>
      <td className={isRefusal ? 'event-what refused' : 'event-what'}>
        <bdi>{whatHappened(t, event)}</bdi>
      </td>
      <td className="event-device">
        {device && <bdi>{device}</bdi>}
        {ip && (
          <span className="help number">
            <bdi>{ip}</bdi>
          </span>
        )}
      </td>
      <td className="event-by">
        <span className="small-only">{t('v_by')}: </span>
        <bdi>{whoDidIt(t, event)}</bdi>
      </td>
    </tr>
  )
})
