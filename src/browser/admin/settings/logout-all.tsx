import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/feedback/confirm.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { SESSIONS_KEY } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the button that signs out all users. It asks for confirmation first. */
export function LogoutAll() {
  const t = useTexts()
  const textOf = useFailureText()
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: () => rest.request('POST', 'sessmgr/v1/sessions/destroy-all'),
    onSuccess() {
      toasts.show(t('all_done'))
      void queries.invalidateQueries({ queryKey: SESSIONS_KEY })
    },
    onError: (error) => toasts.show(textOf(error, 'all_failed'), 'error'),
  })
  return (
    <div className="line divided">
      <p className="line-text">{t('all_help')}</p>
      <Button tone="danger" busy={isPending && t('all_busy')} onClick={() => setAsking(true)}>
        {t('all')}
      </Button>
      <Confirm
        open={isAsking}
        title={t('all_title')}
        action={t('all')}
        onConfirm={() => mutate()}
        onClose={() => setAsking(false)}
      >
        <p>{t('all_text')}</p>
        <p>
          <strong>{t('all_text_own')}</strong>
        </p>
      </Confirm>
    </div>
  )
}
