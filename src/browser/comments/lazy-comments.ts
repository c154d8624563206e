import { fetchComments } from './fetch-comments.ts'
import { trustedHtml } from './trusted-html.ts'

const MARGIN = '400px'
const text = (element: HTMLElement, key: string, fallback: string) => element.dataset[key] ?? fallback

/** Loads the comments of a post into the place where it stands: on scroll, on click, for a hash, or before printing. */
export class LazyComments extends HTMLElement {
  #cleanUp = new AbortController()
  #loading?: AbortController | undefined

  connectedCallback(): void {
    if (this.dataset.loaded) return
    this.#cleanUp = new AbortController()
    const { signal } = this.#cleanUp
    this.addEventListener(
      'click',
      (event) => {
        if (!(event.target as Element).closest('.lazycomments-button')) return
        event.preventDefault()
        void this.load(true)
      },
      { signal },
    )
    const byHash = () => {
      if (/^#(comment|respond)/.test(location.hash)) void this.load()
    }
    addEventListener('hashchange', byHash, { signal })
    addEventListener('beforeprint', () => void this.load(), { signal })
    byHash()
    if (this.getAttribute('method') === 'scroll') {
      const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void this.load(), {
        rootMargin: MARGIN,
      })
      observer.observe(this)
      signal.addEventListener('abort', () => observer.disconnect())
    }
  }

  disconnectedCallback(): void {
    this.#cleanUp.abort()
    this.#loading?.abort()
  }

  /** Loads the comments, unless they are loaded or on their way. After a click the focus goes where they begin. */
  async load(clicked?: boolean): Promise<void> {
    if (this.#loading || this.dataset.loaded || !this.#tell('load', { cancelable: true })) return
    this.#loading = new AbortController()
    this.setAttribute('aria-busy', 'true')
    // Takes the room from now on, also when loading fails, so that nothing moves then.
    this.dataset.loaded = ''
    try {
      const html = await fetchComments(this, this.#loading.signal)
      this.#insert(html, clicked)
    } catch (error) {
      if (!this.#loading.signal.aborted) this.#fail(error)
    }
    this.removeAttribute('aria-busy')
    this.#loading = undefined
  }

  #insert(html: string, clicked?: boolean): void {
    this.#cleanUp.abort()
    this.dataset.loaded = 'true'
    // The comments bring their own element of this id.
    this.removeAttribute('id')
    this.innerHTML = trustedHtml(html)
    const target = this.#target()
    const goal = target ?? (clicked ? (this.querySelector<HTMLElement>('h1,h2,h3') ?? this) : undefined)
    if (goal) {
      goal.tabIndex = -1
      goal.focus({ preventScroll: true })
      if (target) target.scrollIntoView()
    }
    const count = this.querySelectorAll('[id^="comment-"]').length
    const lost = /^#comment-/.test(location.hash) && !target
    this.#say(
      'status',
      lost
        ? text(this, 'lost', 'That comment is no longer here.')
        : `${count} ${text(this, 'done', 'comments loaded')}`,
    )
    this.#tell('loaded', { detail: { count } })
  }

  #fail(error: unknown): void {
    this.querySelector('[role]')?.remove()
    this.#say('alert', text(this, 'error', 'Comments could not be loaded.'), 'append')
    const button = this.querySelector('.lazycomments-button')
    if (button) button.textContent = text(this, 'retry', 'Try again')
    this.#tell('error', { detail: error })
  }

  #target(): HTMLElement | null {
    try {
      return this.querySelector(`#${CSS.escape(decodeURIComponent(location.hash.slice(1)))}`)
    } catch {
      return null
    }
  }

  #say(role: string, message: string, place: 'prepend' | 'append' = 'prepend'): void {
    const note = document.createElement('p')
    note.role = role
    note.className = `lazycomments-${role}`
    this[place](note)
    // Put in after the place for it, so that it is read out.
    note.textContent = message
  }

  #tell(event: string, init: CustomEventInit): boolean {
    return this.dispatchEvent(new CustomEvent(`lazycomments:${event}`, { bubbles: true, ...init }))
  }
}
