/** One site-wide logout. */
export interface SiteLogout {
  /** The generation that sessions need from now on. */
  readonly generation: number
  /** When it happened: Unix seconds by the store's clock. */
  readonly epoch: number
}

/**
 * Counts the site-wide logouts. A session whose generation is lower than the current one is stale.
 *
 * Rejects with `store_unavailable` when the store cannot be reached.
 */
export interface LogoutEpoch {
  /** Reads the current generation; 0 before the first site-wide logout. */
  current(): Promise<number>
  /** Moves the generation on by one, atomically, in constant time. Not idempotent. */
  advance(): Promise<SiteLogout>
  /** Moves the generation on if it is still this one; else resolves undefined and changes nothing. Atomic. */
  advanceFrom(generation: number): Promise<SiteLogout | undefined>
}
