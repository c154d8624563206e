import type { Clock } from '../../ground/clock.ts'
import type { LogoutEpoch, SiteLogout } from '../../sessions/logout-epoch.ts'

/** Counts site-wide logouts in memory. */
export class MemoryLogoutEpoch implements LogoutEpoch {
  readonly #clock: Clock
  #generation = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#generation = 0
  }

  async current(): Promise<number> {
    return this.#generation
  }

  async advance(): Promise<SiteLogout> {
    this.#generation += 1
    return { generation: this.#generation, epoch: Math.floor(this.#clock.now() / 1000) }
  }

  async advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return generation === this.#generation ? this.advance() : undefined
  }
}
