import { type SyntheticEvent, useId, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/feedback/dialog.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { useTexts } from '../texts/use-texts.ts'
import type { Addon } from './use-addons.ts'
import { useLicense } from './use-license.ts'

/** Renders the form that activates a license. */
export function LicenseForm({ addon, title, onClose }: { addon: Addon; title: string; onClose: () => void }) {
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
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(text) => {
            setKey(text)
            setProblem(undefined)
          }}
        />
      </form>
    </Dialog>
  )
}
