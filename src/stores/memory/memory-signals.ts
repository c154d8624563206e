import type { SignalListener, StoreSignals } from '../store-signals.ts'

/** Passes messages within this process. */
export class MemorySignals implements StoreSignals {
  readonly #listeners = new Set<SignalListener>()

  async publish(message: string): Promise<void> {
    for (const listener of this.#listeners) listener.heard(message)
  }

  async subscribe(listener: SignalListener): Promise<() => Promise<void>> {
    // The same listener may subscribe twice.
    const own = { heard: listener.heard.bind(listener), missed() {} }
    this.#listeners.add(own)
    return async () => void this.#listeners.delete(own)
  }
}
