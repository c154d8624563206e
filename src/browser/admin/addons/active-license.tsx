import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/feedback/dialog.tsx'
import { dateOf } from '../sessions/time-words.ts'
import { useTexts } from '../texts/use-texts.ts'
import { MaskedKey } from './masked-key.tsx'
import type { Addon } from './use-addons.ts'

/** Renders the data of an active license, read-only. */
export function ActiveLicense({
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

/**
 * Reads from a license key when it expires, in milliseconds since the Unix epoch. Only offline keys contain this date.
 */
function expiryOf(key: string): number | undefined {
  try {
    const claims = key.split('.')[1] ?? ''
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown }
    return typeof exp === 'number' && Number.isFinite(new Date(exp * 1000).getTime()) ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}
