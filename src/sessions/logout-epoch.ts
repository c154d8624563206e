/** One site-wide logout. */
export interface SiteLogout {
  /** The generation that sessions need from now on. */
  readonly generation: number
  /** Time of the logout, in Unix seconds by the store's clock. */
  readonly epoch: number
}

/**
 * Counts site-wide logouts. A session is stale if its generation is lower than the current one.
 *
 * Rejects with `store_unavailable` if the store cannot be reached.
 */
export interface LogoutEpoch {
  /** Returns the current generation, which is 0 before the first site-wide logout. */
  current(): Promise<number>
  /** Increments the generation, atomically and in constant time. Not idempotent. */
  advance(): Promise<SiteLogout>
  /**
   * Increments the generation if it is still `generation`. Otherwise changes nothing and resolves to undefined. Atomic.
   */
  advanceFrom(generation: number): Promise<SiteLogout | undefined>
}
