import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ADDONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { Button } from '../parts/button.tsx'
import { Empty, Failed, Notice, Skeleton } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { SafeLink, webAddress } from '../parts/links.tsx'
import { ListHead } from '../parts/panel.tsx'
import { serverNow } from '../rest/server-clock.ts'
import { useFailureText } from '../rest/use-rest.ts'
import { queries, rest, toasts } from '../screen.ts'
import { timeAgo } from '../sessions/time-words.ts'
import { useTexts } from '../texts/use-texts.ts'
import { LicenseDialog } from './license-dialog.tsx'
import { ADDONS_KEY, type Addon, type AddonList, useAddons } from './use-addons.ts'

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
        <Notice tone="warning">{t('a_old', { when: timeAgo(serverNow() - data.age * 1000) })}</Notice>
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

/** Renders one add-on. */
function AddonCard({ addon, onManage }: { addon: Addon; onManage: () => void }) {
  const t = useTexts()
  const title = addon.title || t('a_untitled', { id: addon.id })
  // A license can be deactivated even after its add-on was removed.
  const isLicensable = addon.is_premium && (addon.is_active || addon.is_license_active)
  const action = addon.is_license_active ? t('a_manage_license') : t('a_activate_license')
  return (
    <li className="addon">
      <div className="addon-banner">
        <Picture urls={[addon.banner, addon.banner_large, addon.icon]} />
        {addon.is_active && <span className="badge good pill">{t('a_active')}</span>}
      </div>
      <div className="addon-body">
        <h3>{title}</h3>
        <p className="badges">
          <span className={addon.is_premium ? 'badge accent' : 'badge'}>
            {addon.is_premium ? t('a_premium') : t('a_free')}
          </span>
          {isLicensable && (
            <span className={addon.is_license_active ? 'badge good' : 'badge warn'}>
              {addon.is_license_active ? t('a_licensed') : t('a_unlicensed')}
            </span>
          )}
        </p>
        <p className="addon-text">{addon.description}</p>
      </div>
      <div className="addon-foot">
        {isLicensable && (
          <Button
            tone={addon.is_license_active ? 'secondary' : 'primary'}
            aria-label={t('a_of', { action, title })}
            onClick={onManage}
          >
            {action}
          </Button>
        )}
        {!addon.is_active && (
          <SafeLink href={addon.link} className="button primary" about={title}>
            {addon.is_premium ? t('a_buy') : t('a_get')}
          </SafeLink>
        )}
        <SafeLink href={addon.homepage} about={title}>
          {t('a_details')}
        </SafeLink>
      </div>
    </li>
  )
}

/** Renders the first picture that loads, or a drawing if all of them fail. */
function Picture({ urls }: { urls: readonly string[] }) {
  const [failed, setFailed] = useState<readonly string[]>([])
  const url = urls.map(webAddress).find((one) => one !== undefined && !failed.includes(one))
  if (url === undefined) return <Icon name="puzzle" />
  return (
    <img src={url} alt="" loading="lazy" referrerPolicy="no-referrer" onError={() => setFailed([...failed, url])} />
  )
}
