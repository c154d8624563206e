import '../styles/addons.css'
import { type SyntheticEvent, useId, useState } from 'react'
import { ADDONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty, Notice, Pending } from '../parts/feedback.tsx'
import { EXACT, TextField } from '../parts/fields.tsx'
import { Icon } from '../parts/icon.tsx'
import { PlaceLink, SafeLink, webAddress } from '../parts/links.tsx'
import { ListHead } from '../parts/panel.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { serverNow } from '../rest/server-clock.ts'
import { useCall } from '../rest/use-call.ts'
import { useQuery } from '../rest/use-rest.ts'
import { queries, rest, toasts } from '../screen.ts'
import { dateOf, timeAgo } from '../sessions/time-words.ts'
import { ADDONS_TEXTS } from '../texts/addons-texts.ts'
import { addTexts, type TextKey, useTexts } from '../texts/use-texts.ts'
import { ADDONS_QUERY, type Addon, type AddonList } from './addons-query.ts'

addTexts(ADDONS_TEXTS)

/** Renders the add-on catalogue. */
export function AddonsTab() {
  const t = useTexts()
  const list = useQuery(ADDONS_QUERY)
  const { data } = list
  const [managedId, setManagedId] = useState<number>()
  const [refresh, refreshing] = useCall(() => rest.requestObject<AddonList>('POST', `${ADDONS_PATH}/refresh`), {
    failed: 'a_refresh_failed',
    onSuccess(refreshed) {
      queries.set(ADDONS_QUERY, refreshed)
      toasts.show(t('a_refreshed'))
    },
  })
  const items = data && (Array.isArray(data.items) ? data.items : [])
  const managed = items?.find(({ id }) => id === managedId)

  return (
    <div className="stack">
      <ListHead title={t('a_title')} help={t('a_help')}>
        <Button icon="refresh" busy={refreshing.length > 0 && t('a_refreshing')} onClick={() => refresh(undefined)}>
          {t('a_refresh')}
        </Button>
      </ListHead>
      {!items && <Pending of={list} what="a_failed" />}
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
        {addon.is_active && <span className="badge good">{t('a_active')}</span>}
      </div>
      <div className="addon-body">
        <h3>{title}</h3>
        <p className="chips">
          <span className={addon.is_premium ? 'badge accent' : 'badge'}>
            {addon.is_premium ? t('a_premium') : t('a_free')}
          </span>
          {isLicensable && (
            <span className={addon.is_license_active ? 'badge good' : 'badge warn'}>
              {addon.is_license_active ? t('a_licensed') : t('a_unlicensed')}
            </span>
          )}
        </p>
        <p className="line-text">{addon.description}</p>
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
        {addon.is_active && addon.is_license_active && (
          <PlaceLink className="button secondary" tab="settings" query={{ part: 'addons' }}>
            {t('tab_settings')}
            <span className="unseen">: {title}</span>
          </PlaceLink>
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

/** Renders the dialog that activates and deactivates an add-on's license. */
function LicenseDialog({ addon, onClose }: { addon: Addon; onClose: () => void }) {
  const t = useTexts()
  const [isAsking, setAsking] = useState(false)
  const title = addon.title || t('a_untitled', { id: addon.id })
  if (isAsking) return <DeactivateLicense addon={addon} title={title} onClose={onClose} />
  if (!addon.is_license_active) return <LicenseForm addon={addon} title={title} onClose={onClose} />
  return <ActiveLicense addon={addon} title={title} onAsk={() => setAsking(true)} onClose={onClose} />
}

/** Renders the form that activates a license. */
function LicenseForm({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
  const t = useTexts()
  const form = useId()
  const [key, setKey] = useState('')
  const { change, isPending, problem, setProblem } = useLicense(addon, 'l_activated', onClose)

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (isPending) return
    if (key.trim() === '') setProblem(t('l_empty'))
    else change({ key: key.trim() })
  }

  return (
    <Dialog
      title={t('l_title', { title })}
      text={t('l_text_new')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form={form} tone="primary" busy={isPending && t('l_activating')}>
            {t('l_activate')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate>
        <TextField
          label={t('l_key')}
          value={key}
          problem={problem}
          {...EXACT}
          onChange={(text) => {
            setKey(text)
            setProblem(undefined)
          }}
        />
      </form>
    </Dialog>
  )
}

/** Renders the data of an active license, read-only. */
function ActiveLicense({
  addon,
  title,
  onAsk,
  onClose,
}: {
  addon: Addon
  title: string
  onAsk: () => void
  onClose: () => void
}) {
  const t = useTexts()
  const expires = expiryOf(addon.license_key)
  return (
    <Dialog
      title={t('l_title', { title })}
      text={t('l_text_active')}
      onClose={onClose}
      actions={
        <>
          <Button tone="danger" onClick={onAsk}>
            {t('l_ask')}
          </Button>
          <Button data-first-focus onClick={onClose}>
            {t('close')}
          </Button>
        </>
      }
    >
      <MaskedKey value={addon.license_key} />
      {expires !== undefined && <p className="dialog-text">{t('l_expires', { date: dateOf(expires) })}</p>}
    </Dialog>
  )
}

/** Returns the expiry date in a license key, in milliseconds since the Unix epoch. Only offline keys contain one. */
function expiryOf(key: string): number | undefined {
  try {
    const claims = key.split('.')[1] ?? ''
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown }
    return typeof exp === 'number' && Number.isFinite(new Date(exp * 1000).getTime()) ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}

const SHOWN = 4

/** Renders the first and last characters of a license key, and a button that copies the whole key. */
function MaskedKey({ value }: { value: string }) {
  const t = useTexts()
  const copy = useCopy()
  const [isOpen, setOpen] = useState(false)
  // The ends would reveal too much of a short key.
  const masked = value.length > 4 * SHOWN ? `${value.slice(0, SHOWN)}…${value.slice(-SHOWN)}` : '…'
  return (
    <div className="field">
      <span className="label">{t('l_key')}</span>
      <div className="copy-line">
        <code>{isOpen ? value : masked}</code>
        <Button aria-label={t('l_copy')} onClick={() => void copy(value).then((done) => setOpen(!done))}>
          {t('s_copy')}
        </Button>
      </div>
    </div>
  )
}

/** Asks for confirmation before a license is deactivated. */
function DeactivateLicense({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
  const t = useTexts()
  const { change, isPending, problem } = useLicense(addon, 'l_deactivated', onClose)
  return (
    <Dialog
      role="alertdialog"
      title={t('l_ask_title', { title })}
      text={t('l_ask_text')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button tone="danger-solid" busy={isPending && t('l_deactivating')} onClick={() => change(undefined)}>
            {t('l_deactivate')}
          </Button>
        </>
      }
    >
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  )
}

/** Changes an add-on's license. Without a `body`, deactivates it. */
function useLicense(addon: Addon, done: TextKey, onDone: () => void) {
  const t = useTexts()
  const [problem, setProblem] = useState<string>()
  const [change, changing] = useCall(
    (body?: { key: string }) =>
      rest.request<Addon>(body ? 'POST' : 'DELETE', `${ADDONS_PATH}/${addon.id}/license`, body),
    {
      failed: 'l_failed',
      onFailure: setProblem,
      onSuccess(row) {
        const { body = undefined } = queries.get(ADDONS_QUERY) ?? {}
        const items = (body?.items ?? []).map((item) => (item.id === addon.id ? { ...item, ...row } : item))
        queries.set(ADDONS_QUERY, { body: { ...body, items }, tag: undefined })
        toasts.show(t(done))
        onDone()
      },
    },
  )
  return { change, isPending: changing.length > 0, problem, setProblem }
}
