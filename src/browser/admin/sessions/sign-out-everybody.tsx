import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/feedback/confirm.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { useOnline } from '../rest/use-online.ts'
import { queries, rest, toasts } from '../screen.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import type { PeopleSummary } from './people/use-people.ts'
import { SESSIONS_KEY } from './use-sessions.ts'

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
      <Confirm
        open={isAsking}
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
    </>
  )
}
