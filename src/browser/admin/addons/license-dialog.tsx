import { useMutation } from '@tanstack/react-query'
import { Dialog } from 'radix-ui'
import { type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/fields.tsx'
import { useFocusReturn } from '../parts/use-focus-return.ts'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { ADDONS_KEY, ADDONS_PATH, type Addon, type AddonList } from './use-addons.ts'

/** Draws the dialog that activates and deactivates the licence of an add-on. */
export function LicenseDialog({ addon, onClose }: { addon: Addon | undefined; onClose: () => void }) {
  const focus = useFocusReturn()
  return (
    <Dialog.Root open={addon !== undefined} onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog" {...focus}>
          {addon && <LicenseForm key={addon.id} addon={addon} onClose={onClose} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function LicenseForm({ addon, onClose }: { addon: Addon; onClose: () => void }) {
  const t = useTexts()
  const textOf = useFailureText()
  const isActive = addon.is_license_active
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<string>()
  const { mutate, isPending } = useMutation({
    mutationFn: () => {
      const path = `${ADDONS_PATH}/${addon.id}/license`
      return isActive ? rest.request<Addon>('DELETE', path) : rest.request<Addon>('POST', path, { key: key.trim() })
    },
    onSuccess(row) {
      queries.setQueryData<AddonList>(ADDONS_KEY, (list) => ({
        ...list,
        items: (list?.items ?? []).map((item) => (item.id === addon.id ? { ...item, ...row } : item)),
      }))
      toasts.show(t(isActive ? 'l_deactivated' : 'l_activated'))
      onClose()
    },
    onError: (error) => setProblem(textOf(error, 'l_failed')),
  })

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (isPending) return
    if (!isActive && key.trim() === '') return setProblem(t('l_empty'))
    setProblem(undefined)
    mutate()
  }

  return (
    <form onSubmit={submit} noValidate>
      <Dialog.Title className="dialog-title">
        {t('l_title', { title: addon.title || t('a_untitled', { id: addon.id }) })}
      </Dialog.Title>
      <Dialog.Description className="dialog-text">{t(isActive ? 'l_text_active' : 'l_text_new')}</Dialog.Description>
      <TextField
        label={t('l_key')}
        value={isActive ? addon.license_key : key}
        readOnly={isActive}
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
        {isActive ? (
          <Button type="submit" tone="danger-solid" busy={isPending && t('l_deactivating')}>
            {t('l_deactivate')}
          </Button>
        ) : (
          <Button type="submit" tone="primary" busy={isPending && t('l_activating')}>
            {t('l_activate')}
          </Button>
        )}
      </div>
    </form>
  )
}
