/**
 * Gives the focus to what is nearest when the element that has it disappears, so that keyboard users keep their place:
 * to an element with the same id, or else to the heading of what is around it, or a row. What arrives later is taken as well, as long
 * as nobody has moved the focus.
 */
export function keepPlace(root: HTMLElement): void {
  let held: Element | null = null
  let around: readonly HTMLElement[] = []
  let given: HTMLElement | undefined

  root.addEventListener('focusin', ({ target }) => {
    if (target === given || !(target instanceof Element)) return
    held = target
    given = undefined
    around = ancestorsOf(target, root)
  })
  // The browser also takes the focus from what disappears, which is still connected at that moment.
  root.addEventListener('focusout', () =>
    queueMicrotask(() => {
      if (held?.isConnected && document.activeElement !== held) held = null
    }),
  )
  new MutationObserver(() => {
    const { activeElement } = document
    if (!held || held.isConnected || (activeElement !== document.body && activeElement !== given)) return
    const place = (held.id && document.getElementById(held.id)) || placeIn(around)
    if (!place || place === given) return
    given = place
    if (!place.hasAttribute('tabindex') && /^H\d$/.test(place.tagName)) place.tabIndex = -1
    place.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}

function ancestorsOf(element: Element, root: HTMLElement): HTMLElement[] {
  const found: HTMLElement[] = []
  for (let at = element.parentElement; at && at !== root; at = at.parentElement) found.push(at)
  return found
}

function placeIn(around: readonly HTMLElement[]): HTMLElement | undefined {
  for (const element of around) {
    if (!element.isConnected) continue
    const heading = element.querySelector<HTMLElement>('h1, h2, h3')
    if (heading || element.hasAttribute('tabindex')) return heading ?? element
  }
  return undefined
}
