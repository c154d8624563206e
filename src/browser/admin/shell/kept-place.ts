/** How many elements that had the focus are remembered. */
const MOST = 20
/** How long the same control may take to be there again before the focus goes elsewhere, in milliseconds. */
const PATIENCE_MS = 100
/** How long after that something better may still arrive, in milliseconds. */
const SOON_MS = 5_000
const TAKES_FOCUS = ':is(a[href], button, input, select, textarea, summary, [tabindex]):not(:disabled)'
const HEADING = 'h1, h2, h3'

/** An element that had the focus. */
interface Held {
  readonly element: HTMLElement
  /** Its ancestors, from the inside out. */
  readonly around: readonly HTMLElement[]
  /** Selector of an element that stands for it when it has been rendered anew: its `data-place`, or its row. */
  readonly selector: string | undefined
}

/** What had the focus, latest first. */
let recent: readonly Held[] = []

/** Checks whether a row had the focus a short time ago. The focus may return to it, so it must be there at once. */
export function wasFocused(row: string): boolean {
  return recent.some(({ selector }) => selector === selectorOf('row', row))
}

/**
 * Gives the focus on when the element that has it disappears, so that keyboard users keep their place: to the same
 * control if it is rendered again, a row or heading around it, or else to what had the focus before, on this page or
 * when it was last open. What arrives later is taken as well, as long as nobody moves the focus.
 */
export function keepPlace(root: HTMLElement): void {
  let held: Held | undefined
  let given: HTMLElement | undefined
  let lostAt = 0
  let timer = 0

  function bestFor({ element, around, selector }: Held, isLate: boolean): HTMLElement | undefined {
    const main = root.querySelector('main') ?? root
    // The heading of a whole page is not near.
    const near = around.filter(({ isConnected }) => isConnected)
    const exact =
      find(root, selector) ??
      near.map((one) => (one.contains(main) || one.parentElement === main ? itself(one) : takenBy(one))).find(Boolean)
    if (exact || !isLate) return exact
    const earlier = recent
      .filter((one) => one.element !== element)
      .map((one) => (main.contains(one.element) && canTake(one.element) ? one.element : find(main, one.selector)))
    const others = [find(root, '.away [tabindex]'), find(main, HEADING), main as HTMLElement]
    return [...earlier, ...others].find((one) => one !== undefined)
  }

  function giveOn(isLate: boolean): void {
    const { activeElement } = document
    if (given?.isConnected === false) given = undefined
    if (!held || held.element.isConnected || (activeElement !== document.body && activeElement !== given)) return
    // What had the focus before stays, but the heading of a page only stands in for it.
    const standsIn = given?.matches(`main, ${HEADING}`) === true && performance.now() - lostAt < SOON_MS
    const place = bestFor(held, isLate || standsIn)
    clearTimeout(timer)
    if (!place && !given) timer = window.setTimeout(giveOn, PATIENCE_MS, true)
    if (!place || place === given) return
    if (!given) lostAt = performance.now()
    given = place
    if (!place.matches(TAKES_FOCUS)) place.tabIndex = -1
    place.focus({ preventScroll: true })
  }

  root.addEventListener('focusin', ({ target }) => {
    if (target === given || !(target instanceof HTMLElement)) return
    held = heldBy(target, root)
    given = undefined
    recent = [held, ...recent.filter(({ element }) => element !== target)].slice(0, MOST)
  })
  // The browser also takes the focus from what disappears, which is still connected at that moment.
  root.addEventListener('focusout', () =>
    queueMicrotask(() => {
      const last = given ?? held?.element
      if (last?.isConnected && document.activeElement !== last) held = undefined
    }),
  )
  new MutationObserver(() => giveOn(false)).observe(root, { childList: true, subtree: true })
}

function heldBy(element: HTMLElement, root: HTMLElement): Held {
  const around: HTMLElement[] = []
  for (let at = element.parentElement; at && at !== root; at = at.parentElement) around.push(at)
  const { place } = element.dataset
  const row = element.closest<HTMLElement>('[data-row]')?.dataset.row
  return { element, around, selector: place ? selectorOf('place', place) : row && selectorOf('row', row) }
}

function selectorOf(name: 'place' | 'row', value: string): string {
  return `[data-${name}="${CSS.escape(value)}"]`
}

function find(within: Element, selector: string | undefined): HTMLElement | undefined {
  return selector === undefined ? undefined : [...within.querySelectorAll<HTMLElement>(selector)].find(isShown)
}

const isShown = (element: HTMLElement) => element.checkVisibility() && !element.closest('[inert]')

const canTake = (element: HTMLElement) => element.matches(TAKES_FOCUS) && isShown(element)

const itself = (element: HTMLElement) => (canTake(element) && element.tagName !== 'MAIN' ? element : undefined)

/** Returns the heading in an element, or the element itself if it takes the focus. */
const takenBy = (element: HTMLElement) => find(element, HEADING) ?? itself(element)
