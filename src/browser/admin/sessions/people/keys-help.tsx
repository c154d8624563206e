import { useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/feedback/dialog.tsx'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'

const KEYS: readonly (readonly [keys: string, text: TextKey])[] = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Space', 'key_select'],
  ['Delete', 'key_end'],
  ['?', 'key_help'],
]

/** Renders the button that lists the keys, which also opens with "?". */
export function KeysHelp() {
  const t = useTexts()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const open = ({ key, target }: KeyboardEvent) => {
      const isField =
        target instanceof Element && target.closest('input:not([type=checkbox]), select, textarea, dialog')
      if (key === '?' && !isField) setOpen(true)
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [])
  return (
    <>
      <Button tone="quiet" aria-label={t('keys')} aria-keyshortcuts="?" onClick={() => setOpen(true)}>
        ?
      </Button>
      {isOpen && (
        <Dialog
          title={t('keys')}
          actions={
            <Button data-first-focus onClick={() => setOpen(false)}>
              {t('close')}
            </Button>
          }
          onClose={() => setOpen(false)}
        >
          <dl className="keys">
            {KEYS.map(([keys, text]) => (
              <div key={keys}>
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{t(text)}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  )
}
