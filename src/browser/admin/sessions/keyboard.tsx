import { type RefObject, useEffect, useRef, useState } from 'react'
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

let isSearching = false

/** Moves the focus to the search field, on the page of Everybody if this one has none. */
export function goToSearch(): void {
  const field = document.querySelector<HTMLElement>('.search-box input')
  if (field) return field.focus()
  isSearching = true
  place.setQuery({})
}

/** Returns the reference of a search field that "/" focuses, even from a page without one. */
export function useSearchField(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null)
  useKey('/', goToSearch)
  useEffect(() => {
    if (isSearching) field.current?.focus()
    isSearching = false
  }, [])
  return field
}
