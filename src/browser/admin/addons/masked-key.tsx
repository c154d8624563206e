import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { useTexts } from '../texts/use-texts.ts'

const SHOWN = 4

/** Renders the first and last characters of a license key, and a button that copies the whole key. */
export function MaskedKey({ value }: { value: string }) {
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
