import { useMutation } from '@tanstack/react-query'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { SESSIONS_KEY, type Session } from './use-sessions.ts'

interface Ending {
  /** Undefined: all of them. */
  readonly session?: Session
  readonly done: string
}

/** Ends one session of a user, or all. */
export function useEndSessions(user: string) {
  const t = useTexts()
  const textOf = useFailureText()
  const { mutate, variables, isPending } = useMutation({
    mutationFn: ({ session }: Ending) =>
      rest.request('POST', 'sessmgr/v1/sessions/destroy', session ? { user, token: session.token } : { user }),
    onSuccess: (_answer, { done }) => toasts.show(done),
    onError: (error) => toasts.show(textOf(error, 'end_failed'), 'error'),
    onSettled: () => queries.invalidateQueries({ queryKey: SESSIONS_KEY }),
  })
  return {
    endOne: (session: Session, device: string) => mutate({ session, done: t('end_one_done', { device }) }),
    endAll: (name: string) => mutate({ done: t('force_done', { name }) }),
    /** Token of the session that is being ended, or that all are. */
    ending: isPending ? (variables.session?.token ?? ('all' as const)) : undefined,
  }
}
