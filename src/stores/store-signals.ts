/** Receives the messages of a store. */
export interface SignalListener {
  /** Called with each message, including those of this process. */
  heard(message: string): void
  /** Called if messages may have been lost, for example while the connection was down. */
  missed(): void
}

/**
 * Passes short messages between the processes that use the same data.
 *
 * @remarks A message is only a hint: it may be late, repeated or lost, and anyone with access to the store may send
 * one.
 */
export interface StoreSignals {
  /** Sends a message of at most 7,000 ASCII characters to every subscriber. */
  publish(message: string): Promise<void>
  /**
   * Subscribes to the messages of all processes. Resolves, once they arrive, to a function that ends the subscription.
   */
  subscribe(listener: SignalListener): Promise<() => Promise<void>>
}
