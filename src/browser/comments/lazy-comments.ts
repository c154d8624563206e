import { fetchComments } from './fetch-comments.ts'
import { fetchNow } from './fetch-now.ts'

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): string }
}

const { trustedTypes } = window as unknown as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('lazycomments', { createHTML: (html) => html })

/** Passes the markup of the site's own comments route, and nothing else, to the one place that inserts it. */
const trustedHtml = (html: string): string => policy?.createHTML(html) ?? html

type Part = 'alert' | 'button' | 'print' | 'status'

/**
 * Loads the comments of a post into the place where it stands: on scroll, on click, for a hash, or before printing.
 *
 * Bubbling events: `lazycomments:load` before loading (cancelable: nothing is loaded until the next reason to),
 * `lazycomments:loaded` with `detail.count`, the number of elements whose id begins with `comment-`, 0 where the theme
 * gives none such an id, and `lazycomments:error` with `detail.status`, the HTTP status or 0 when there was no answer
 * (cancelable: no message is shown).
 */
export class LazyComments extends HTMLElement {
  #loading?: AbortController

  connectedCallback(): void {
    // A library that keeps pages may have copied the element while it was loading.
    this.ariaBusy = null
    this.#makeButton()
    if (this.getAttribute('method') === 'scroll') near.observe(this)
    this.follow()
  }

  disconnectedCallback(): void {
    near.unobserve(this)
    this.#loading?.abort()
    this.ariaBusy = null
  }

  /** Loads the comments, unless they are loaded or on their way. */
  async load(): Promise<void> {
    if (this.ariaBusy || this.dataset.loaded || !this.#tell('load')) return
    this.#loading = new AbortController()
    const { signal } = this.#loading
    this.ariaBusy = 'true'
    this.#say('alert')
    const isDrawn = drawn()
    const answer = await fetchComments(this, signal)
    // With the way to a hash and the comments in one frame, what is below them would count as shifted.
    await isDrawn
    if (!signal.aborted) this.#settle(answer)
  }

  /** Loads the comments at once, for printing, in place of what is on its way. If that fails, the page prints an address. */
  print(): void {
    if (this.dataset.loaded || !(this.ariaBusy || this.#tell('load'))) return
    this.#say('alert')
    this.#loading?.abort()
    this.#settle(fetchNow(this), true)
  }

  /** Loads what has failed. */
  again(): void {
    if (this.#loading) void this.load()
  }

  /** Loads when the hash may name something in the comments. */
  follow(): void {
    const id = wantedId()
    if (!id) return
    void this.load()
    const found = document.getElementById(id)
    if (this.dataset.loaded && found && this.contains(found)) focus(found, true)
  }

  /** Where the script runs the link is a button, and looks as the theme's buttons do. */
  #makeButton(): void {
    const link = this.querySelector<HTMLAnchorElement>('a.lazycomments-button')
    if (!link) return
    const button = document.createElement('button')
    button.type = 'button'
    button.className = link.className
    button.textContent = link.textContent
    link.replaceWith(button)
    const print = this.#part('print')
    // On paper a path leads nowhere.
    print.textContent = `${print.textContent}`.replace(link.getAttribute('href') as string, link.href)
  }

  #settle(answer: string | number, isPrinting?: boolean): void {
    this.ariaBusy = null
    if (typeof answer === 'string') void this.#insert(answer, isPrinting)
    else if (this.#tell('error', { status: answer })) {
      this.#say('alert', 'error')
      this.#say('button', 'retry')
    }
  }

  async #insert(html: string, isPrinting?: boolean): Promise<void> {
    const hadFocus = this.contains(document.activeElement)
    const { top, bottom } = this.getBoundingClientRect()
    this.dataset.loaded = 'true'
    this.#say('button').outerHTML = trustedHtml(html)
    // The comments bring their own element of this id.
    if (this.querySelector('#comments')) this.removeAttribute('id')
    const count = this.querySelectorAll('[id^=comment-]').length
    const id = wantedId()
    const found = document.getElementById(id as string) as HTMLElement
    const isHere = this.contains(found)
    // What is not here may come with the comments of another post on the page.
    const isLost = id && !found && !document.querySelector('lazy-comments:not([data-loaded=true])')
    this.#say('status', isLost ? 'lost' : count === 1 ? 'one' : 'done', count)
    // What the hash names gets the focus. What stood on the button goes to the heading; scrolling alone moves none.
    if (isHere || hadFocus) focus(isHere ? found : (this.querySelector<HTMLElement>('h2,h3') ?? this), isHere)
    const { style } = document.body
    if (!isPrinting && bottom < innerHeight && (top < 0 || id)) {
      // Leaves what the reader sees below the comments where it was, also on a page that is too short for that.
      style.marginBottom = '100vh'
      scrollBy({ top: this.getBoundingClientRect().bottom - bottom, behavior: 'instant' })
    }
    this.#tell('loaded', { count })
    // Once that has been drawn: with a move in the same frame, what is below would count as shifted.
    await drawn()
    style.marginBottom = ''
    if (isHere) found.scrollIntoView({ behavior: 'instant' })
  }

  /** Puts one of the placeholder's texts into its part; the style hides what tells a reader nothing new. */
  #say(name: Part, text = '', count?: number): Element {
    const part = this.#part(name)
    part.dataset.text = text
    // A theme without such ids leaves the number unknown.
    part.textContent = (this.dataset[text] ?? '').replace('{count}', (count || '') as string).trim()
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

// The elements share their listeners, so that none is left behind.
for (const [event, method] of Object.entries({
  // Comes with every change of the hash, and when a link to the same hash is followed once more.
  popstate: 'follow',
  beforeprint: 'print',
  online: 'again',
} as const)) {
  addEventListener(event, () => {
    for (const element of document.querySelectorAll<LazyComments>('lazy-comments')) void element[method]()
  })
}

addEventListener('click', (event) => {
  const button = (event.target as Element).closest?.<HTMLElement>('lazy-comments>.lazycomments-button')
  if (!button) return
  // Not every browser focuses a button that is clicked. From here the focus goes on to the comments.
  button.focus()
  const element = button.parentElement as LazyComments
  // Takes the room now, while the reader expects that something moves.
  element.dataset.loaded = ''
  void element.load()
})

/** Resolves when what is on the page now has been drawn: at once or, in a tab that is in the background, when it is shown. */
function drawn(): Promise<unknown> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
}

/** Focuses an element, whether it can be reached by keys or not. */
function focus(element: HTMLElement, preventScroll: boolean): void {
  if (element.tabIndex < 0) element.tabIndex = -1
  element.focus({ preventScroll })
}

/** Gives the id that the hash names when it can be one of the comments' own; otherwise nothing. */
function wantedId(): string | undefined {
  try {
    return /^(comment|respond).*/.exec(decodeURIComponent(location.hash.slice(1)))?.[0]
  } catch {
    // Half a percent sign names nothing.
  }
}
