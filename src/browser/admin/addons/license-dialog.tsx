import { useState } from 'react'
import { useTexts } from '../texts/use-texts.ts'
import { ActiveLicense } from './active-license.tsx'
import { DeactivateLicense } from './deactivate-license.tsx'
import { LicenseForm } from './license-form.tsx'
import type { Addon } from './use-addons.ts'

/** Renders the dialog that activates and deactivates an add-on's license. */
export function LicenseDialog({ addon, onClose }: { addon: Addon; onClose: () => void }) {
  const t = useTexts()
  const [isAsking, setAsking] = useState(false)
  const title = addon.title || t('a_untitled', { id: addon.id })
  if (isAsking) return <DeactivateLicense addon={addon} title={title} onClose={onClose} />
  if (!addon.is_license_active) return <LicenseForm addon={addon} title={title} onClose={onClose} />
  return <ActiveLicense addon={addon} title={title} onAsk={() => setAsking(true)} onClose={onClose} />
}
