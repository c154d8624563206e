import { type FocusEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { useFailureText } from '../rest/use-rest.ts'
import { rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { webAddress } from './links.tsx'
import { saveFile } from './save-file.ts'

/** An entry of a menu: an action, or a link that opens in a new tab. */
interface MenuItem {
  readonly label: string
  /** Whether the action cannot be undone. */
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly href?: string
  onSelect?(): void
}

/** Renders a button that opens a menu. The arrow keys move in it, and Escape closes it. */
export function Menu({
  label,
  className,
  tabIndex,
  itemsOf,
  children,
}: {
  /** Accessible name of the button, if its content has no text. */
  label?: string | undefined
  className: string
  tabIndex?: number
  /** Returns the entries, when the menu opens. */
  itemsOf: () => readonly MenuItem[]
  children: ReactNode
}) {
  const [items, setItems] = useState<readonly MenuItem[]>()
  const menu = useRef<HTMLDivElement>(null)
  const open = () => setItems(itemsOf())

  function close(): void {
    setItems(undefined)
    menu.current?.querySelector('button')?.focus({ preventScroll: true })
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    // Hide the keys from a surrounding table, which uses the same ones, but let the page's shortcuts through.
    if (event.key !== '/' && event.key !== '?') event.stopPropagation()
    const entries = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const at = entries.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown' && !items) open()
    else if (next === undefined) return
    event.preventDefault()
    if (next !== undefined) entries.at(next % entries.length)?.focus()
  }

  function onBlur({ relatedTarget, currentTarget }: FocusEvent): void {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setItems(undefined)
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the button and the entries inside.
    <div className="menu" ref={menu} onKeyDown={onKeyDown} onBlur={onBlur}>
      <button
        type="button"
        className={className}
        tabIndex={tabIndex}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={items !== undefined}
        onClick={items ? () => setItems(undefined) : open}
      >
        {children}
      </button>
      {items && (
        <div className="menu-list" role="menu" aria-label={label} ref={showMenu}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  )
}

/** Moves the focus into a menu that has just opened. */
function showMenu(list: HTMLDivElement | null): void {
  if (!list) return
  const { left, right } = list.getBoundingClientRect()
  list.classList.toggle('other-way', left < 0 || right > innerWidth)
  list.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  // The menu of the last row may extend beyond the page.
  list.scrollIntoView({ block: 'nearest' })
}

function MenuEntry({
  item: { label, href, isDanger, isDisabled, onSelect },
  close,
}: {
  item: MenuItem
  close: () => void
}) {
  const className = isDanger ? 'danger' : undefined
  const select = () => {
    if (isDisabled) return
    close()
    onSelect?.()
  }
  if (href === undefined) {
    return (
      <button
        type="button"
        role="menuitem"
        tabIndex={-1}
        className={className}
        aria-disabled={isDisabled || undefined}
        onClick={select}
      >
        {label}
      </button>
    )
  }
  const url = webAddress(href)
  if (url === undefined) return null
  return (
    <a role="menuitem" tabIndex={-1} href={url} target="_blank" rel="noopener noreferrer" onClick={close}>
      {label}
    </a>
  )
}

/** Renders the menu that saves a list as a file. */
export function ExportMenu({
  words,
  formats,
  pathOf,
}: {
  /** What the file name is made of. */
  words: readonly string[]
  /** For each format: its label, such as "CSV", and its name in the route, which is the file's extension. */
  formats: readonly (readonly [label: string, format: string])[]
  /** Returns the path of the route that returns the file. */
  pathOf(format: string): string
}) {
  const t = useTexts()
  const textOf = useFailureText()
  const [isBusy, setBusy] = useState(false)

  async function save(format: string): Promise<void> {
    setBusy(true)
    try {
      const name = words.map((word) => word.replaceAll(/[^\p{L}\p{N}.]+/gu, '-')).filter(Boolean)
      // A plain link could not send the nonce.
      saveFile(await rest.download(pathOf(format)), `${name.join('-')}.${format}`)
    } catch (error) {
      toasts.show(textOf(error, 'export_failed'), 'error')
    } finally {
      setBusy(false)
    }
  }

  return (
    <Menu
      className="button secondary"
      itemsOf={() => formats.map(([label, format]) => ({ label, onSelect: () => void save(format) }))}
    >
      {t(isBusy ? 'exporting' : 'export')}
    </Menu>
  )
}

const SESSIONS_FORMATS = [
  ['CSV', 'csv'],
  ['JSON', 'json'],
] as const

/** Renders the menu that saves a list of people or sessions. */
export function SessionsExport({
  words,
  route,
  query,
}: {
  /** What the file name is made of. */
  words: readonly string[]
  route: string
  query: Readonly<Record<string, string>>
}) {
  const pathOf = (format: string) => `sessmgr/v1/${route}?${new URLSearchParams({ format, ...query })}`
  return <ExportMenu words={words} formats={SESSIONS_FORMATS} pathOf={pathOf} />
}
