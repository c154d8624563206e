import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { useTexts } from '../texts/use-texts.ts'

const SHOWN = 4

/** Draws a license key of which only the ends are to be seen, and a button that copies all of it. */
export function MaskedKey({ value }: { value: string }) {
  const t = useTexts()
  const copy = useCopy()
  const [isOpen, setOpen] = useState(false)
  // A short key would be given away by its ends.
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
