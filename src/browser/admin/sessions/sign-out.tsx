import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { useFailureText, useOnline } from '../rest/use-rest.ts'
import { queries, rest, toasts } from '../screen.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import type { PeopleSummary } from './people/use-people.ts'
import { nameOf, SESSIONS_KEY, type UserSessions } from './use-sessions.ts'

/** Renders the button that signs out all users. It asks for confirmation first, with their number if it is known. */
export function SignOutEverybody({ inSettings = false }: { inSettings?: boolean }) {
  const t = useTexts()
  const textOf = useFailureText()
  const isOnline = useOnline()
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: () => rest.request('POST', 'sessmgr/v1/sessions/destroy-all'),
    onSuccess() {
      toasts.show(t('all_done'))
      void queries.invalidateQueries({ queryKey: SESSIONS_KEY })
    },
    onError: (error) => toasts.show(textOf(error, 'all_failed'), 'error'),
  })
  const people = queries.getQueryData<{ body: PeopleSummary }>([...SESSIONS_KEY, 'summary'])?.body.people
  return (
    <>
      <Button tone="danger" disabled={!isOnline} busy={isPending && t('all_busy')} onClick={() => setAsking(true)}>
        {t(inSettings ? 'all' : 'everybody_out')}
      </Button>
      {isAsking && (
        <Confirm
          title={t(inSettings ? 'all_title' : 'everybody_title')}
          action={t(inSettings ? 'all' : 'everybody_action')}
          onConfirm={() => mutate()}
          onClose={() => setAsking(false)}
        >
          {people !== undefined && <p>{t(countKey('everybody_count', people), { count: people })}</p>}
          <p>{t('all_text')}</p>
          <p>
            <strong>{t('all_text_own')}</strong>
          </p>
        </Confirm>
      )}
    </>
  )
}

/**
 * Asks for confirmation before a user is signed out everywhere. Shows how many sessions would end, and whether one of
 * them is the user's own.
 */
export function ConfirmEverywhere({
  found,
  onConfirm,
  onClose,
}: {
  /** The sessions that would end. */
  found: UserSessions
  onConfirm: () => void
  onClose: () => void
}) {
  const t = useTexts()
  const name = nameOf(found.user)
  const count = found.sessions.length
  const isOwn = found.sessions.some(({ current }) => current)
  return (
    <Confirm
      title={t('end_all_title', { name })}
      action={t(countKey('end_all_action', count), { count })}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t(countKey('end_all_text', count), { count, name })}</p>
      {isOwn && (
        <p>
          <strong>{t(countKey('end_all_own', count))}</strong>
        </p>
      )}
    </Confirm>
  )
}
