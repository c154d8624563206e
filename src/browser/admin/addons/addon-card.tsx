import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { SafeLink, webAddress } from '../parts/safe-link.tsx'
import { useTexts } from '../texts/use-texts.ts'
import type { Addon } from './use-addons.ts'

/** Renders one add-on. */
export function AddonCard({ addon, onManage }: { addon: Addon; onManage: () => void }) {
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
