import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useFailureText } from '../../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { nameOf, readSessions, SESSIONS_KEY, type UserSessions } from '../use-sessions.ts'
import type { SignedInPerson } from './use-people.ts'

/** Signs one person out everywhere, after a question that needs their sessions. */
export function useEndPerson(onEnded: (user: UserSessions['user']) => void) {
  const t = useTexts()
  const textOf = useFailureText()
  const [found, setFound] = useState<UserSessions>()
  const fail = (error: unknown) => toasts.show(textOf(error, 'end_failed'), 'error')
  const ask = useMutation({
    mutationFn: ({ user }: SignedInPerson) => readSessions(user.login),
    onSuccess(answer) {
      if (answer.sessions.length > 0) return setFound(answer)
      // The person has signed out since the list was read.
      onEnded(answer.user)
      toasts.show(t('force_none', { name: nameOf(answer.user) }))
    },
    onError: fail,
  })
  const end = useMutation({
    mutationFn: ({ user }: UserSessions) => rest.request('POST', 'sessmgr/v1/sessions/destroy', { id: user.id }),
    onSuccess(_answer, { user }) {
      onEnded(user)
      toasts.show(t('force_done', { name: nameOf(user) }))
      // Users may have signed out their own account.
      void rest.check().catch(() => {})
    },
    onError: fail,
    onSettled: () => queries.invalidateQueries({ queryKey: SESSIONS_KEY }),
  })
  return {
    ask: ask.mutate,
    found,
    confirm: () => found && end.mutate(found),
    close: () => setFound(undefined),
  }
}
