import { Dialog } from 'radix-ui'
import { type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { useTexts } from '../texts/use-texts.ts'
import type { Addon } from './use-addons.ts'
import { useLicense } from './use-license.ts'

/** Renders the form that activates a license. */
export function LicenseForm({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
  const t = useTexts()
  const [key, setKey] = useState('')
  const { change, isPending, problem, setProblem } = useLicense(addon, 'l_activated', onClose)

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (isPending) return
    if (key.trim() === '') setProblem(t('l_empty'))
    else change({ key: key.trim() })
  }

  return (
    <form onSubmit={submit} noValidate>
      <Dialog.Title className="dialog-title">{t('l_title', { title })}</Dialog.Title>
      <Dialog.Description className="dialog-text">{t('l_text_new')}</Dialog.Description>
      <TextField
        label={t('l_key')}
        value={key}
        problem={problem}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={(text) => {
          setKey(text)
          setProblem(undefined)
        }}
      />
      <div className="dialog-actions">
        <Dialog.Close asChild>
          <Button>{t('cancel')}</Button>
        </Dialog.Close>
        <Button type="submit" tone="primary" busy={isPending && t('l_activating')}>
          {t('l_activate')}
        </Button>
      </div>
    </form>
  )
}
