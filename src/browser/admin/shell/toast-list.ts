/** A short note at the edge of the screen. */
export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'error'
}

/** The notes on the screen. */
export interface ToastList {
  all(): readonly Toast[]
  show(text: string, tone?: Toast['tone']): void
  remove(id: number): void
  subscribe(listener: () => void): () => void
}

const MOST = 3

/** Creates an empty list. Of many notes at once the latest stay. */
export function createToasts(): ToastList {
  const listeners = new Set<() => void>()
  let toasts: readonly Toast[] = []
  let lastId = 0

  function become(next: readonly Toast[]): void {
    toasts = next
    for (const listener of listeners) listener()
  }

  return {
    all: () => toasts,
    show(text, tone = 'good') {
      lastId += 1
      // The same note again is news again; twice on the screen it would be noise.
      const others = toasts.filter((toast) => toast.text !== text)
      become([...others, { id: lastId, text, tone }].slice(-MOST))
    },
    remove: (id) => become(toasts.filter((toast) => toast.id !== id)),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
