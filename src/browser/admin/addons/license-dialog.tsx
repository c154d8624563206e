import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { useFocusReturn } from '../parts/use-focus-return.ts'
import { useTexts } from '../texts/use-texts.ts'
import { ActiveLicense } from './active-license.tsx'
import { DeactivateLicense } from './deactivate-license.tsx'
import { LicenseForm } from './license-form.tsx'
import type { Addon } from './use-addons.ts'

/** Renders the dialog that activates and deactivates an add-on's license. */
export function LicenseDialog({ addon, onClose }: { addon: Addon | undefined; onClose: () => void }) {
  const t = useTexts()
  const focus = useFocusReturn()
  const [askedId, setAskedId] = useState<number>()
  const isAsking = addon !== undefined && addon.id === askedId
  const title = addon && (addon.title || t('a_untitled', { id: addon.id }))

  function close(): void {
    setAskedId(undefined)
    onClose()
  }

  return (
    <Dialog.Root open={addon !== undefined} onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog" role={isAsking ? 'alertdialog' : 'dialog'} {...focus}>
          {addon && title && <LicenseContent {...{ addon, title, isAsking, setAskedId, onClose: close }} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function LicenseContent({
  addon,
  title,
  isAsking,
  setAskedId,
  onClose,
}: {
  addon: Addon
  title: string
  isAsking: boolean
  setAskedId: (id: number) => void
  onClose: () => void
}) {
  if (isAsking) return <DeactivateLicense addon={addon} title={title} onClose={onClose} />
  if (addon.is_license_active) return <ActiveLicense addon={addon} title={title} onAsk={() => setAskedId(addon.id)} />
  return <LicenseForm key={addon.id} addon={addon} title={title} onClose={onClose} />
}
