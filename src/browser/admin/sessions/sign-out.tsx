import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { Button, DangerButton } from '../parts/button.tsx'
import { Dialog, type Question, useConfirm } from '../parts/dialog.tsx'
import { useFailureText } from '../rest/use-rest.ts'
import { queries, rest, toasts } from '../screen.ts'
import { countKey, type Translate, useTexts } from '../texts/use-texts.ts'
import type { PeopleSummary } from './people/use-people.ts'
import { nameOf, type Person, readSessions, SESSIONS_KEY, type UserSessions } from './use-sessions.ts'

/**
 * Renders the button that signs out all users. It asks for confirmation first, and shows the number of users if known.
 */
export function SignOutEverybody({ inSettings = false }: { inSettings?: boolean }) {
  const t = useTexts()
  const textOf = useFailureText()
  const { mutate, isPending } = useMutation({
    mutationFn: () => rest.request('POST', 'sessmgr/v1/sessions/destroy-all'),
    onSuccess() {
      toasts.show(t('all_done'))
      void queries.invalidateQueries({ queryKey: SESSIONS_KEY })
    },
    onError: (error) => toasts.show(textOf(error, 'all_failed'), 'error'),
  })
  const people = queries.getQueryData<{ body: PeopleSummary }>([...SESSIONS_KEY, 'summary'])?.body.people
  const [ask, dialog] = useConfirm(
    () => ({
      title: t(inSettings ? 'all_title' : 'everybody_title'),
      action: t(inSettings ? 'all' : 'everybody_action'),
      text: (
        <>
          {people !== undefined && <p>{t(countKey('everybody_count', people), { count: people })}</p>}
          <p>{t('all_text')}</p>
          <p>
            <strong>{t('all_text_own')}</strong>
          </p>
        </>
      ),
    }),
    () => mutate(),
  )
  return (
    <>
      <DangerButton busy={isPending && t('all_busy')} onClick={() => ask({})}>
        {t(inSettings ? 'all' : 'everybody_out')}
      </DangerButton>
      {dialog}
    </>
  )
}

/**
 * Signs a user out everywhere, after a confirmation. `ask` needs the user's sessions; `find` reads them first.
 *
 * @param onFailure Shows why the sign-out failed. By default, a toast shows this.
 */
export function useSignOut(onEnded: (user: Person) => void, onFailure?: (error: unknown) => void) {
  const t = useTexts()
  const textOf = useFailureText()
  const onError = onFailure ?? ((error: unknown) => toasts.show(textOf(error, 'end_failed'), 'error'))
  const end = useMutation({
    mutationFn: ({ user }: UserSessions) => rest.request('POST', 'sessmgr/v1/sessions/destroy', { id: user.id }),
    onSuccess(_answer, { user, sessions }) {
      onEnded(user)
      toasts.show(t(sessions.length > 0 ? 'force_done' : 'force_none', { name: nameOf(user) }))
      // Users may have signed out their own account.
      void rest.check().catch(() => {})
    },
    onError,
    onSettled: () => queries.invalidateQueries({ queryKey: SESSIONS_KEY }),
  })
  const [ask, dialog] = useConfirm((found: UserSessions) => everywhereQuestion(t, found), end.mutate)
  const asked = useRef<Wanted>(undefined)
  const find = useMutation({
    mutationFn: ({ login }: Wanted) => readSessions(login),
    onMutate(wanted) {
      asked.current = wanted
    },
    onSuccess(found, wanted) {
      if (asked.current !== wanted) return
      // If none is listed, end all anyway: there may be unregistered sessions from before a restart.
      if (found.sessions.length > 0) ask(found)
      else end.mutate(found)
    },
    onError: (error, wanted) => asked.current === wanted && onError(error),
  })
  function cancel(): void {
    asked.current = undefined
    find.reset()
  }
  const { id, ...names } = (find.isPending && find.variables) || {}
  const reading = id !== undefined && (
    <Dialog
      role="alertdialog"
      title={t('end_all_title', { name: nameOf({ id, ...names }) })}
      text={<p>{t('loading')}</p>}
      onClose={cancel}
      actions={
        <>
          <Button onClick={cancel}>{t('cancel')}</Button>
          <Button tone="danger-solid" disabled>
            {t('end_all_action_one')}
          </Button>
        </>
      }
    />
  )
  return { find: find.mutate, ask, dialog: reading || dialog, isPending: find.isPending || end.isPending }
}

/** The user whose sessions are read. If the id is known, the dialog opens at once. */
type Wanted = Pick<Person, 'login'> & Partial<Person>

/** Asks for confirmation, with the number of sessions that would end. Warns if one of them is the user's own. */
function everywhereQuestion(t: Translate, { user, sessions }: UserSessions): Question {
  const [name, count] = [nameOf(user), sessions.length]
  return {
    title: t('end_all_title', { name }),
    action: t(countKey('end_all_action', count), { count }),
    text: (
      <>
        <p>{t(countKey('end_all_text', count), { count, name })}</p>
        {sessions.some(({ current }) => current) && (
          <p>
            <strong>{t(countKey('end_all_own', count))}</strong>
          </p>
        )}
      </>
    ),
  }
}
