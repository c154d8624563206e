import { useMutation, useMutationState } from '@tanstack/react-query'
import { useCallback } from 'react'
import { RestFailure } from '../rest/rest-failure.ts'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { SESSIONS_KEY, type Session } from './use-sessions.ts'

interface Ending {
  readonly user: string
  /** The session to end; undefined means all. */
  readonly session?: Session | undefined
  /** Message to show afterwards. */
  readonly done: string
}

const END_KEY = ['end-sessions']

/** Ends one session of a user, or all. `onEnded` receives the session, or undefined if all have ended. */
export function useEndSessions(user: string, onEnded: (session: Session | undefined) => void) {
  const t = useTexts()
  const textOf = useFailureText()
  const { mutate } = useMutation({
    mutationKey: END_KEY,
    mutationFn: ({ user, session }: Ending) =>
      rest.request('POST', 'sessmgr/v1/sessions/destroy', session ? { user, token: session.token } : { user }),
    onSuccess(_answer, { session, done }) {
      onEnded(session)
      toasts.show(done)
    },
    onError(error, { session }) {
      const isGone = error instanceof RestFailure && error.code === 'session_not_found'
      if (!isGone) return toasts.show(textOf(error, 'end_failed'), 'error')
      onEnded(session)
      toasts.show(t('end_one_gone'))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: SESSIONS_KEY }),
  })
  const underWay = useMutationState({
    filters: { mutationKey: END_KEY, status: 'pending' },
    select: ({ state }) => state.variables as Ending,
  }).filter((ending) => ending.user === user)

  const endOne = useCallback(
    (session: Session, device: string) => mutate({ user, session, done: t('end_one_done', { device }) }),
    [mutate, user, t],
  )

  return {
    endOne,
    endAll: (name: string) => mutate({ user, done: t('force_done', { name }) }),
    isEnding: ({ token }: Session) => underWay.some(({ session }) => session?.token === token),
    isEndingAll: underWay.some(({ session }) => session === undefined),
  }
}
