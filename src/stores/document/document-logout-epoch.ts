import type { LogoutEpoch, SiteLogout } from '../../sessions/logout-epoch.ts'
import { DocumentCounter } from './document-counter.ts'
import type { DocumentRows } from './document-rows.ts'

/** Counts site-wide logouts in a database: one row, however many sessions there are. */
export class DocumentLogoutEpoch implements LogoutEpoch {
  readonly #counter: DocumentCounter

  constructor(rows: DocumentRows) {
    this.#counter = new DocumentCounter(rows, 'epoch')
  }

  current(): Promise<number> {
    return this.#counter.current()
  }

  async advance(): Promise<SiteLogout> {
    return (await this.#advance()) as SiteLogout
  }

  advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return this.#advance(generation)
  }

  async #advance(from?: number): Promise<SiteLogout | undefined> {
    const step = await this.#counter.advance(from)
    return step && { generation: step.count, epoch: Math.floor(step.now / 1000) }
  }
}
