import { useCallback, useRef, useState } from 'react'
import { Button, DangerButton } from '../parts/button.tsx'
import { Dialog, type Question, useConfirm } from '../parts/dialog.tsx'
import { useCall } from '../rest/use-call.ts'
import { queries, rest, toasts } from '../screen.ts'
import { countKey, type TextKey, type Translate, useTexts } from '../texts/use-texts.ts'
import { SUMMARY_QUERY } from './people/use-people.ts'
import { nameOf, type Person, readSessions, SESSIONS, type UserSessions } from './use-sessions.ts'

/**
 * Renders the button that signs out all users. It asks for confirmation first, and shows the number of users if known.
 */
export function SignOutEverybody({ inSettings = false }: { inSettings?: boolean }) {
  const t = useTexts()
  const [run, pending] = useCall(() => rest.request('POST', 'sessmgr/v1/sessions/destroy-all'), {
    onSuccess: () => toasts.show(t('all_done')),
    failed: 'all_failed',
    changes: SESSIONS,
  })
  const people = queries.get(SUMMARY_QUERY)?.body.people
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
    run,
  )
  return (
    <>
      <DangerButton busy={pending.length > 0 && t('all_busy')} onClick={() => ask({})}>
        {t(inSettings ? 'all' : 'everybody_out')}
      </DangerButton>
      {dialog}
    </>
  )
}

/**
 * Signs a user out everywhere, after a confirmation. `ask` needs the user's sessions; `find` reads them first.
 *
 * @param failure The text for a failure, and what shows it. By default, a toast does.
 */
export function useSignOut(
  onEnded: (user: Person) => void,
  failure: { failed: TextKey; onFailure?: (reason: string) => void } = { failed: 'end_failed' },
) {
  const t = useTexts()
  const [wanted, setWanted] = useState<Wanted>()
  const asked = useRef<Wanted>(undefined)
  function want(one: Wanted | undefined): void {
    asked.current = one
    setWanted(one)
  }
  const [end, ending] = useCall(
    ({ user }: UserSessions) => rest.request('POST', 'sessmgr/v1/sessions/destroy', { id: user.id }),
    {
      ...failure,
      changes: SESSIONS,
      onSuccess(_answer, { user, sessions }) {
        onEnded(user)
        toasts.show(t(sessions.length > 0 ? 'force_done' : 'force_none', { name: nameOf(user) }))
        // Users may have signed out their own account.
        void rest.check().catch(() => {})
      },
    },
  )
  const [ask, dialog] = useConfirm((found: UserSessions) => everywhereQuestion(t, found), end)
  const [read] = useCall(async (one: Wanted) => ({ one, found: await readSessions(one.login) }), {
    failed: failure.failed,
    onSuccess({ one, found }) {
      if (asked.current !== one) return
      want(undefined)
      // If none is listed, end all anyway: there may be unregistered sessions from before a restart.
      if (found.sessions.length > 0) ask(found)
      else end(found)
    },
    onFailure(reason, _error, one) {
      if (asked.current !== one) return
      want(undefined)
      if (failure.onFailure) failure.onFailure(reason)
      else toasts.show(reason, 'error')
    },
  })
  // Always the same function, so that a list does not render all its rows again.
  const find = useCallback(
    (one: Wanted) => {
      asked.current = one
      setWanted(one)
      read(one)
    },
    [read],
  )
  const reading = wanted?.id !== undefined && (
    <Dialog
      role="alertdialog"
      title={t('end_all_title', { name: nameOf({ ...wanted, id: wanted.id }) })}
      text={<p>{t('loading')}</p>}
      onClose={() => want(undefined)}
      actions={
        <>
          <Button onClick={() => want(undefined)}>{t('cancel')}</Button>
          <Button tone="danger-solid" disabled>
            {t('end_all_action_one')}
          </Button>
        </>
      }
    />
  )
  return { find, ask, dialog: reading || dialog, isPending: wanted !== undefined || ending.length > 0 }
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
