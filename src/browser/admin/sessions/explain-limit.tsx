import { useQuery } from '@tanstack/react-query'
import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { useFocusReturn } from '../parts/use-focus-return.ts'
import { rest } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { Explanation, type LimitOfUser } from './explanation.tsx'
import { SESSIONS_KEY } from './use-sessions.ts'

/** Renders the button that explains how the limit applies to a user, and the dialog that it opens. */
export function ExplainLimit({ user, name }: { user: string; name: string }) {
  const t = useTexts()
  const focus = useFocusReturn()
  const [isOpen, setOpen] = useState(false)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: [...SESSIONS_KEY, user, 'explain'],
    queryFn: () => rest.request<LimitOfUser>('GET', `sessmgr/v1/explain?${new URLSearchParams({ user })}`),
    enabled: isOpen,
  })
  return (
    <>
      <Button tone="quiet" icon="info" onClick={() => setOpen(true)}>
        {t('explain')}
      </Button>
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Overlay className="overlay" />
          <Dialog.Content className="dialog" {...focus}>
            <Dialog.Title className="dialog-title">{t('explain_title', { name })}</Dialog.Title>
            <Dialog.Description asChild>
              <div className="dialog-text" role="status">
                {data ? <Explanation limit={data} name={name} /> : !error && <p>{t('loading')}</p>}
              </div>
            </Dialog.Description>
            {error && !data && <Failed error={error} retry={refetch} isRetrying={isFetching} />}
            <div className="dialog-actions">
              <Dialog.Close asChild>
                <Button data-first-focus>{t('close')}</Button>
              </Dialog.Close>
            </div>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  )
}
