import { createChanges } from './signal.ts'

type Query = Readonly<Record<string, string>>

/** The open tab, named by the last part of the URL. */
interface ScreenLocation {
  /** Query of the URL, without the question mark. */
  query(): string
  /** Key of the open tab, or an empty string at the URL of the screen itself. */
  key(): string
  /** URL of a tab, or of a view of it, for links. */
  urlOf(key: string, query?: Query): string
  /**
   * Opens a tab, or a view of it. If this would leave a tab with unsaved changes, sets `pending` instead, and the
   * screen asks first. With `keepsEdits`, the screen does not ask until the user returns to the tab they left.
   */
  go(key: string, query?: Query, keepsEdits?: boolean): void
  /** Changes only the query of the URL. */
  setQuery(query: Query): void
  /** Sets parts of the query without a new entry in the browser's history. Undefined removes a part. */
  amendQuery(change: Readonly<Record<string, string | undefined>>): void
  /** Whether the last navigation used the browser's history, for example with Back. */
  isBack(): boolean
  /** URL waiting to be opened while the screen asks about unsaved changes. */
  pending(): string | undefined
  /** Opens the pending URL or stays, as the user has chosen. */
  settle(leave: boolean): void
  subscribe(listener: () => void): () => void
}

type Click = Pick<MouseEvent, 'button' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

/** Creates the location on top of the browser's history. */
export function createLocation(adminUrl: string, isDirty: () => boolean): ScreenLocation {
  const base = new URL(adminUrl, window.location.href).pathname
  const { tell: changed, subscribe } = createChanges()
  let pending: string | undefined
  const address = () => window.location.pathname + window.location.search
  let shown = address()
  let isBack = false
  let home: string | undefined
  const asks = () => isDirty() && home === undefined

  function show(url: string): void {
    if (url !== address()) window.history.pushState(null, '', url)
    shown = address()
    isBack = false
    pending = undefined
    if (keyOf(shown) === home) home = undefined
    changed()
    window.scrollTo(0, 0)
  }

  function urlOf(key: string, query?: Query): string {
    return base + encodeURIComponent(key) + searchOf(query)
  }

  function keyOf(url: string): string {
    const path = url.split('?', 1)[0] ?? ''
    return path.startsWith(base) ? decode(path.slice(base.length).replace(/\/$/, '')) : ''
  }

  window.addEventListener('popstate', () => {
    const wanted = address()
    if (asks() && keyOf(wanted) !== keyOf(shown)) {
      // The browser has already changed the URL, so restore the URL of the visible tab.
      window.history.pushState(null, '', shown)
      pending = wanted
    } else {
      shown = wanted
      isBack = true
      if (keyOf(shown) === home) home = undefined
    }
    changed()
  })
  window.addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })

  return {
    query: () => shown.split('?')[1] ?? '',
    key: () => keyOf(shown),
    urlOf,
    go(key, query, keepsEdits) {
      const url = urlOf(key, query)
      const isOpen = keyOf(shown) === key
      if (isOpen && query === undefined) return
      home ??= keepsEdits ? keyOf(shown) : undefined
      if (isOpen || !asks()) return show(url)
      pending = url
      changed()
    },
    setQuery(query) {
      show(window.location.pathname + searchOf(query))
    },
    amendQuery(change) {
      const query = Object.fromEntries(new URLSearchParams(window.location.search))
      const kept = Object.entries({ ...query, ...change }).filter(([, value]) => value !== undefined)
      shown = window.location.pathname + searchOf(Object.fromEntries(kept) as Query)
      window.history.replaceState(null, '', shown)
    },
    isBack: () => isBack,
    pending: () => pending,
    settle(leave) {
      if (leave && pending !== undefined) return show(pending)
      pending = undefined
      changed()
    },
    subscribe,
  }
}

/** Checks whether a click on a link opens it on this page. Otherwise, the browser opens it in a new tab, or saves it. */
export function opensHere({ button, ctrlKey, metaKey, shiftKey, altKey }: Click): boolean {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey
}

function searchOf(query: Query = {}): string {
  const text = new URLSearchParams(query).toString()
  return text && `?${text}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
