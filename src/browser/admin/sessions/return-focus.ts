import { place } from '../screen.ts'

const HEADING = '.people h2'
const SEARCH = '.search-box input'

/** Selector of what takes the focus when the user returns to Everybody; undefined before anyone was opened. */
let wanted: string | undefined

/** Remembers the row or the search field that has the focus. */
export function rememberFocus(target: Element): void {
  const row = target.closest<HTMLElement>('[data-row]')?.dataset.row
  if (row !== undefined) wanted = `[data-row="${CSS.escape(row)}"]`
  else if (target.matches(SEARCH)) wanted = SEARCH
}

/** Lets the heading take the focus if nothing is remembered. */
export function leaveEverybody(): void {
  wanted ??= HEADING
}

/** Returns the focus to where it was, unless something has it. */
export function returnFocus(): void {
  if (wanted === undefined || document.activeElement !== document.body) return
  const element = document.querySelector<HTMLElement>(wanted) ?? document.querySelector<HTMLElement>(HEADING)
  element?.focus()
}

/** Opens Everybody with the focus in the search field. */
export function goToSearch(): void {
  wanted = SEARCH
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  place.setQuery({})
}
