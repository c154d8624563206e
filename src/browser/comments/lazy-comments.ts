import { type Fetched, fetchComments, fetchNow } from './fetch-comments.ts'

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): string }
}

const { trustedTypes } = window as unknown as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('lazycomments', { createHTML: (html) => html })

/** Marks markup from the site's own comments route as trusted, for the only place that inserts it. */
const trustedHtml = (html: string): string => policy?.createHTML(html) ?? html

type Part = 'alert' | 'button' | 'print' | 'status'

/**
 * Loads the comments of a post: on scroll, when the page is idle, on click, for a hash, before printing, or before the
 * reader searches the page.
 *
 * Fires bubbling events. `lazycomments:load` fires before loading; cancel it to prevent loading for now.
 * `lazycomments:loaded` has `detail.count`, the number of elements whose id starts with `comment-`, or 0 if the theme
 * has no such ids. `lazycomments:error` has `detail.status`, the HTTP status or 0 if there was no response; cancel it
 * to suppress the message.
 */
class LazyComments extends HTMLElement {
  #loading?: AbortController

  connectedCallback(): void {
    // A library that caches pages may have copied the element while its comments were loading.
    this.ariaBusy = null
    this.#makeButton()
    const method = this.getAttribute('method')
    if (method === 'scroll' || method === 'idle') near.observe(this)
    if (method === 'idle') whenIdle(() => void this.load())
    this.follow()
  }

  disconnectedCallback(): void {
    near.unobserve(this)
    this.#loading?.abort()
    this.ariaBusy = null
  }

  /** Loads the comments unless they are loaded or loading. */
  async load(): Promise<void> {
    if (this.ariaBusy || this.dataset.loaded || !this.#tell('load')) return
    this.#loading = new AbortController()
    const { signal } = this.#loading
    this.ariaBusy = 'true'
    this.#say('alert')
    const isDrawn = drawn()
    const answer = await fetchComments(this, signal)
    // In the same frame, scrolling to a hash would count as a layout shift of the content below.
    await isDrawn
    if (!signal.aborted) this.#settle(answer)
  }

  /** Loads the comments synchronously for printing. If that fails, prints a URL instead. */
  print(): void {
    if (this.dataset.loaded || !(this.ariaBusy || this.#tell('load'))) return
    this.#say('alert')
    this.#loading?.abort()
    this.#settle(fetchNow(this), true)
  }

  /** Loads the comments again after a failure. */
  again(): void {
    if (this.#loading) void this.load()
  }

  /** Loads the comments if the hash may name an element in them. */
  follow(): void {
    const id = wantedId()
    if (!id) return
    void this.load()
    const found = document.getElementById(id)
    if (!this.dataset.loaded) return
    if (isLost(found)) this.#say('status', 'lost')
    if (found && this.contains(found)) focus(found, true)
  }

  /** Turns the link into a button in the style of the theme. */
  #makeButton(): void {
    const link = this.querySelector<HTMLAnchorElement>('a.lazycomments-button')
    if (!link) return
    const button = document.createElement('button')
    button.type = 'button'
    button.className = link.className
    button.textContent = link.textContent
    link.replaceWith(button)
    const print = this.#part('print')
    // A relative URL is useless on paper.
    print.textContent = `${print.textContent}`.replace(link.getAttribute('href') as string, link.href)
  }

  #settle(answer: Fetched, isPrinting?: boolean): void {
    this.ariaBusy = null
    if (typeof answer === 'string') return void this.#insert(answer, isPrinting)
    const { status, until } = answer
    if (this.#tell('error', { status })) {
      this.#say('alert', until ? 'later' : 'error', until && minuteAfter(until))
      this.#say('button', 'retry')
    }
  }

  async #insert(html: string, isPrinting?: boolean): Promise<void> {
    const hadFocus = this.contains(document.activeElement)
    const { top, bottom } = this.getBoundingClientRect()
    this.dataset.loaded = 'true'
    this.#say('button').outerHTML = trustedHtml(html)
    // The comments contain an element with the same id.
    if (this.querySelector('#comments')) this.removeAttribute('id')
    const count = this.querySelectorAll('[id^=comment-]').length
    const id = wantedId()
    const found = document.getElementById(id as string) as HTMLElement
    const isHere = this.contains(found)
    const { nonce, nonceHeader } = this.dataset
    // Without its nonce, a signed-in reader got the comments as a guest.
    const isGuest = nonceHeader && !nonce
    // Themes without `comment-` ids have no count.
    this.#say('status', id && isLost(found) ? 'lost' : isGuest ? 'stale' : count === 1 ? 'one' : 'done', count || '')
    // Focus the target of the hash. Without a target, move the focus from the button to the heading; if the button did
    // not have the focus, leave the focus where it is.
    if (isHere || hadFocus) focus(isHere ? found : (this.querySelector<HTMLElement>('h2,h3') ?? this), isHere)
    const { style } = document.body
    const place = isPrinting ? undefined : placeLeft
    if (place !== undefined) scrollTo({ top: place, behavior: 'instant' })
    else if (!isPrinting && bottom < innerHeight && (top < 0 || id)) {
      // Keeps the content below the comments in view, even if the page is too short.
      style.marginBottom = '100vh'
      scrollBy({ top: this.getBoundingClientRect().bottom - bottom, behavior: 'instant' })
    }
    this.#tell('loaded', { count })
    // Wait until the comments are drawn, because scrolling in the same frame would count as a layout shift.
    await drawn()
    style.marginBottom = ''
    // The focus is elsewhere if the reader has followed another link meanwhile, or if the theme hides the target.
    if (isHere && place === undefined && found === document.activeElement) found.scrollIntoView({ behavior: 'instant' })
  }

  /** Shows one of the placeholder's texts, with its value, in its element. The style sheet hides the others. */
  #say(name: Part, text = '', value?: unknown): Element {
    const part = this.#part(name)
    part.dataset.text = text
    part.textContent = (this.dataset[text] ?? '').replace(/\{\w+\}/, `${value}`).trim()
    return part
  }

  #part(name: Part): HTMLElement {
    return this.querySelector(`.lazycomments-${name}`) as HTMLElement
  }

  #tell(event: string, detail?: object): boolean {
    return this.dispatchEvent(new CustomEvent(`lazycomments:${event}`, { bubbles: true, cancelable: true, detail }))
  }
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) void (target as LazyComments).load()
  },
  { rootMargin: '400px' },
)

// All elements share these listeners, so that a removed element leaves none behind.
for (const [event, method] of Object.entries({
  // Fires when the hash changes, and when a link to the same hash is clicked again.
  popstate: 'follow',
  beforeprint: 'print',
  online: 'again',
} as const)) {
  addEventListener(event, () => {
    for (const element of document.querySelectorAll<LazyComments>('lazy-comments')) void element[method]()
  })
}

addEventListener('keydown', ({ key, ctrlKey, metaKey }) => {
  // Browsers find only what is in the page, so load the comments first.
  if (key !== 'f' || !(ctrlKey || metaKey)) return
  for (const element of document.querySelectorAll<LazyComments>('lazy-comments')) void element.load()
})

/** Calls `action` once the page is loaded and idle, unless the reader has turned on data saving. */
function whenIdle(action: () => void): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  // Safari lacks `requestIdleCallback`.
  const wait = () => ('requestIdleCallback' in window ? requestIdleCallback(action) : setTimeout(action, 1000))
  if (document.readyState === 'complete') wait()
  else addEventListener('load', wait, { once: true })
}

addEventListener('click', (event) => {
  const button = (event.target as Element).closest?.<HTMLElement>('lazy-comments>.lazycomments-button')
  if (!button) return
  // Not every browser focuses a clicked button. The focus moves from the button to the comments once they are loaded.
  button.focus()
  const element = button.parentElement as LazyComments
  // Reserves the space now, while the reader expects the page to move.
  element.dataset.loaded = ''
  void element.load()
})

/** Returns the time of day of the next full minute. */
function minuteAfter(ms: number): string {
  return new Date(ms + 59_999).toLocaleTimeString([], { timeStyle: 'short' })
}

/** Resolves when the current page has been drawn. In a background tab, that is when the tab is shown. */
function drawn(): Promise<unknown> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
}

/** Checks whether the target of the hash is gone. It may still arrive with the comments of another post on the page. */
function isLost(found: HTMLElement | null): boolean {
  return !found && !document.querySelector('lazy-comments:not([data-loaded=true])')
}

/** Focuses an element, even if the keyboard cannot reach it. */
function focus(element: HTMLElement, preventScroll: boolean): void {
  if (element.tabIndex < 0) element.tabIndex = -1
  element.focus({ preventScroll })
}

/** Returns the id in the hash if it may be in the comments. */
function wantedId(): string | undefined {
  try {
    return /^(comment|respond).*/.exec(decodeURIComponent(location.hash.slice(1)))?.[0]
  } catch {
    // The hash contains an invalid percent encoding.
  }
}

const key = () => `lazycomments:${location.href}`

/**
 * The scroll position at which a returning reader left the page; undefined once they have moved. Browsers cannot
 * restore it themselves, because the page is too short without its comments.
 */
let placeLeft = readBack()

function readBack(): number | undefined {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (visit?.type !== 'reload' && visit?.type !== 'back_forward') return undefined
  try {
    const kept = sessionStorage.getItem(key())
    return kept === null ? undefined : Number(kept)
  } catch {
    // The browser denies access to its storage.
    return undefined
  }
}

for (const event of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
  addEventListener(
    event,
    () => {
      placeLeft = undefined
    },
    { capture: true, passive: true },
  )
}

addEventListener('pagehide', () => {
  try {
    sessionStorage.setItem(key(), String(scrollY))
  } catch {
    // The browser denies access to its storage, or the storage is full.
  }
})

// Last, because the elements of the page start to load as soon as this runs.
customElements.define('lazy-comments', LazyComments)
