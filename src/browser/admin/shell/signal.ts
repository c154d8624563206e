/** A list of change listeners. */
interface Changes {
  /** Calls the listeners. */
  tell(): void
  subscribe(listener: () => void): () => void
}

/** Creates an empty list of change listeners. */
export function createChanges(): Changes {
  const listeners = new Set<() => void>()
  return {
    tell() {
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** A value that components can subscribe to. */
export interface Signal<T> {
  value(): T
  become(value: T): void
  subscribe(listener: () => void): () => void
}

/** Creates a value that components can subscribe to. */
export function createSignal<T>(first: T): Signal<T> {
  const { tell, subscribe } = createChanges()
  let current = first
  return {
    value: () => current,
    become(value) {
      current = value
      tell()
    },
    subscribe,
  }
}
