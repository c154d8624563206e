import { useEffect, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { place } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'

const HELP = ['?', 'key_help'] as const

/** A key as shown to the user, and the text that explains it. */
type KeyText = readonly [keys: string, text: TextKey]

/** Renders the button that lists a page's keyboard shortcuts. The list also opens with "?". */
export function KeysHelp({ keys }: { keys: readonly KeyText[] }) {
  const t = useTexts()
  const [isOpen, setOpen] = useState(false)
  useKey('?', () => setOpen(true))
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
            {[...keys, HELP].map(([key, text]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
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

const FIELDS = 'input:not([type=checkbox]), select, textarea, dialog'

/** Calls `action` when a key is pressed anywhere except in a field or a dialog. */
export function useKey(key: string, action: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isField = event.target instanceof Element && event.target.closest(FIELDS)
      if (event.key !== key || isField || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [key, action])
}

const SEARCH = '.search-box input'

/** Selector of the element to focus when the user returns to Everybody; undefined before anyone was opened. */
let wanted: string | undefined

const selectorOf = (row: string) => `[data-row="${CSS.escape(row)}"]`

/** Remembers the row or the search field that has the focus. */
export function rememberFocus(target: Element): void {
  const row = target.closest<HTMLElement>('[data-row]')?.dataset.row
  if (row !== undefined) wanted = selectorOf(row)
  else if (target.matches(SEARCH)) wanted = SEARCH
}

/** Checks whether the focus returns to a row, which must then be there at once. */
export function isWanted(row: string): boolean {
  return wanted === selectorOf(row)
}

/** Returns the focus to the remembered element, unless another element has the focus. */
export function returnFocus(): void {
  if (wanted === undefined || document.activeElement !== document.body) return
  document.querySelector<HTMLElement>(wanted)?.focus()
}

/** Opens Everybody with the focus in the search field. */
export function goToSearch(): void {
  wanted = SEARCH
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  place.setQuery({})
}
