import { useCallback } from 'react'
import type { Question } from '../../parts/dialog.tsx'
import { RestFailure } from '../../rest/rest-client.ts'
import { useCall } from '../../rest/use-call.ts'
import { rest, toasts } from '../../screen.ts'
import { countKey, type Translate, useTexts } from '../../texts/use-texts.ts'
import { SESSIONS, type Session } from '../use-sessions.ts'

/** How many sessions one call may end. */
const MOST_AT_ONCE = 100

interface Ending {
  readonly user: string
  readonly sessions: readonly Session[]
  /** Message to show afterwards, instead of how many sessions have ended. */
  readonly done?: string
}

/** The server's response. It has no counts if a single session was to end. */
type Ended = Readonly<Partial<Record<'ended' | 'already_ended', number>>>

/** Ends chosen sessions of a user. */
export function useEndSessions(user: string, onEnded: (sessions: readonly Session[]) => void) {
  const t = useTexts()
  const [end, pending] = useCall(requestEnd, {
    failed: 'end_failed',
    changes: SESSIONS,
    onSuccess({ ended = 0, already_ended = 0 }, { sessions, done }) {
      onEnded(sessions)
      const counted = t('end_several_done', { count: ended })
      toasts.show(
        done ?? (already_ended > 0 ? `${counted} ${t('end_several_gone', { count: already_ended })}` : counted),
      )
    },
    onFailure(reason, error, { sessions }) {
      const isGone = error instanceof RestFailure && error.code === 'session_not_found'
      if (!isGone) return toasts.show(reason, 'error')
      onEnded(sessions)
      toasts.show(t('end_one_gone'))
    },
  })
  const endOne = useCallback(
    (session: Session) => {
      const device = session.device.name ?? t('device_unknown')
      end({ user, sessions: [session], done: t('end_one_done', { device }) })
    },
    [end, user, t],
  )
  return {
    endOne,
    endSeveral(sessions: readonly Session[]) {
      const [first] = sessions
      if (sessions.length === 1 && first) endOne(first)
      else end({ user, sessions })
    },
    isEnding: ({ token }: Session) =>
      pending.some(({ sessions }) => sessions.some((session) => session.token === token)),
    isEndingSeveral: pending.some(({ sessions }) => sessions.length !== 1),
  }
}

async function requestEnd({ user, sessions }: Ending): Promise<Ended> {
  const end = (what: object) => rest.request<Ended>('POST', 'sessmgr/v1/sessions/destroy', { user, ...what })
  const [first] = sessions
  if (sessions.length === 1 && first) return end({ token: first.token })
  let [ended, already_ended] = [0, 0]
  for (let at = 0; at < sessions.length; at += MOST_AT_ONCE) {
    const tokens = sessions.slice(at, at + MOST_AT_ONCE).map(({ token }) => token)
    const answer = await end({ tokens })
    ended += answer.ended ?? 0
    already_ended += answer.already_ended ?? 0
  }
  return { ended, already_ended }
}

/** How many devices the confirmation names. */
const NAMED = 3

/** Asks for confirmation before chosen sessions of a user end. */
export function endingQuestion(t: Translate, sessions: readonly Session[], name: string): Question {
  const count = sessions.length
  const devices = sessions.map(({ device }) => device.name ?? t('device_unknown'))
  const isOwn = sessions.some(({ current }) => current)
  const isOnlyOwn = count === 1 && isOwn
  return {
    title: isOnlyOwn ? t('end_own_title') : t(countKey('end_several_title', count), { count, name }),
    action: t(countKey('end_all_action', count), { count }),
    text: (
      <>
        <p>{t(isOnlyOwn ? 'end_own_text' : 'end_several_text', { name })}</p>
        {count <= NAMED && !isOnlyOwn && <p>{devices.join(', ')}</p>}
        {count > 1 && isOwn && (
          <p>
            <strong>{t('end_several_own')}</strong>
          </p>
        )}
      </>
    ),
  }
}
