import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { webAddress } from './safe-link.tsx'

/** An entry of a menu: an action, or a link that opens in a new tab. */
export interface MenuItem {
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
  items,
  children,
}: {
  /** Name of the button, if its content is not readable. */
  label?: string | undefined
  className: string
  tabIndex?: number
  items: readonly MenuItem[]
  children: ReactNode
}) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isOpen) list.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  }, [isOpen])

  function close(): void {
    setOpen(false)
    button.current?.focus({ preventScroll: true })
  }

  function onKeyDown(event: KeyboardEvent): void {
    // A table around the menu has the same keys.
    event.stopPropagation()
    const entries = [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = entries.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown' && !isOpen) setOpen(true)
    else if (next === undefined) return
    event.preventDefault()
    if (next !== undefined) entries.at(next % entries.length)?.focus()
  }

  function onBlur({ relatedTarget, currentTarget }: FocusEvent): void {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOpen(false)
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the button and the entries inside.
    <div className="menu" onKeyDown={onKeyDown} onBlur={onBlur}>
      <button
        type="button"
        className={className}
        ref={button}
        tabIndex={tabIndex}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div className="menu-list" role="menu" id={id} ref={list} aria-label={label}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  )
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
