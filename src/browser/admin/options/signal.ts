/** A value that components can subscribe to. */
export interface Signal<T> {
  value(): T
  become(value: T): void
  subscribe(listener: () => void): () => void
}

/** Creates a value that components can subscribe to. */
export function createSignal<T>(first: T): Signal<T> {
  const listeners = new Set<() => void>()
  let current = first
  return {
    value: () => current,
    become(value) {
      current = value
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
