/** Creates an empty list of change listeners. `tell` calls them. */
export function createChanges() {
  const listeners = new Set<() => void>()
  return {
    tell(): void {
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Creates a value that components can subscribe to. */
export function createSignal<T>(first: T) {
  const { tell, subscribe } = createChanges()
  let current = first
  return {
    value: () => current,
    become(value: T): void {
      current = value
      tell()
    },
    subscribe,
  }
}
