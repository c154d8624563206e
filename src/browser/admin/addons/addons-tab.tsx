import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/feedback/empty.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { Notice } from '../parts/feedback/notice.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { ListHead } from '../parts/list-head.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { timeAgo } from '../sessions/time-words.ts'
import { useTexts } from '../texts/use-texts.ts'
import { AddonCard } from './addon-card.tsx'
import { LicenseDialog } from './license-dialog.tsx'
import { ADDONS_KEY, ADDONS_PATH, type AddonList, useAddons } from './use-addons.ts'

/** Renders the add-on catalogue. */
export function AddonsTab() {
  const t = useTexts()
  const textOf = useFailureText()
  const { data, error, refetch, isFetching } = useAddons()
  const [managedId, setManagedId] = useState<number>()
  const { mutate: refresh, isPending: isRefreshing } = useMutation({
    mutationFn: async () => (await rest.requestObject<AddonList>('POST', `${ADDONS_PATH}/refresh`)).body,
    onSuccess(list) {
      queries.setQueryData(ADDONS_KEY, list)
      toasts.show(t('a_refreshed'))
    },
    onError: (failure) => toasts.show(textOf(failure, 'a_refresh_failed'), 'error'),
  })
  const items = data && (Array.isArray(data.items) ? data.items : [])
  const managed = items?.find(({ id }) => id === managedId)

  return (
    <div className="stack">
      <ListHead title={t('a_title')} help={t('a_help')}>
        <Button icon="refresh" busy={isRefreshing && t('a_refreshing')} onClick={() => refresh()}>
          {t('a_refresh')}
        </Button>
      </ListHead>
      {!items && !error && <Skeleton panels={3} grid />}
      {!items && error && <Failed error={error} fallback="a_failed" retry={refetch} isRetrying={isFetching} />}
      {items && data.age !== undefined && (
        <Notice tone="warning">{t('a_old', { when: timeAgo(Date.now() - data.age * 1000) })}</Notice>
      )}
      {items?.length === 0 && (
        <Empty icon="puzzle" title={t('a_empty')}>
          {t('a_empty_help')}
        </Empty>
      )}
      {items && items.length > 0 && (
        <ul className="grid">
          {items.map((addon) => (
            <AddonCard key={addon.id} addon={addon} onManage={() => setManagedId(addon.id)} />
          ))}
        </ul>
      )}
      {managed && <LicenseDialog key={managed.id} addon={managed} onClose={() => setManagedId(undefined)} />}
    </div>
  )
}
