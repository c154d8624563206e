import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/feedback/dialog.tsx'
import { Failed } from '../../parts/feedback/failed.tsx'
import { rest } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { SESSIONS_KEY } from '../use-sessions.ts'
import { Explanation, type LimitOfUser } from './explanation.tsx'

/** Renders the button that explains how the limit applies to a user, and the dialog that it opens. */
export function ExplainLimit({ user, name }: { user: string; name: string }) {
  const t = useTexts()
  const [isOpen, setOpen] = useState(false)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: [...SESSIONS_KEY, user, 'explain'],
    queryFn: () => rest.request<LimitOfUser>('GET', `sessmgr/v1/explain?${new URLSearchParams({ user })}`),
    enabled: isOpen,
  })
  const close = () => setOpen(false)
  return (
    <>
      <Button tone="quiet" icon="info" onClick={() => setOpen(true)}>
        {t('explain')}
      </Button>
      {isOpen && (
        <Dialog
          title={t('explain_title', { name })}
          text={
            <div role="status">{data ? <Explanation limit={data} name={name} /> : !error && <p>{t('loading')}</p>}</div>
          }
          onClose={close}
          actions={
            <Button data-first-focus onClick={close}>
              {t('close')}
            </Button>
          }
        >
          {error && !data && <Failed error={error} retry={refetch} isRetrying={isFetching} />}
        </Dialog>
      )}
    </>
  )
}
