import type { DocumentRow } from '../../src/document.ts'
import { type Clock, systemClock } from '../../src/ground/clock.ts'
import type { RowDriver } from '../../src/stores/document/row-reads.ts'

interface KeptRow extends DocumentRow {
  readonly until: number
}

/** Rows in this process, for any number of drivers. */
export class MemoryRows {
  readonly #rows = new Map<string, KeptRow>()
  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#rows.size
  }

  driver(): RowDriver {
    const rows = this.#rows
    const now = () => this.#clock.now()
    const live = (key: string) => {
      const row = rows.get(key)
      return row && row.until > now() ? row : undefined
    }
    return {
      clock: this.#clock,
      async get(keys) {
        const found = keys.flatMap((key) => {
          const row = live(key)
          return row ? [[key, { revision: row.revision, text: row.text }] as const] : []
        })
        return { now: now(), rows: new Map(found) }
      },
      async swap(key, before, row, lifeMs = Number.POSITIVE_INFINITY) {
        const present = before === undefined ? live(key) : rows.get(key)
        if (present?.revision !== before) return false
        rows.set(key, { ...row, until: now() + lifeMs })
        return true
      },
      async purge(count) {
        const expired = [...rows].filter(([, { until }]) => until <= now()).slice(0, count)
        for (const [key] of expired) rows.delete(key)
        return expired.length
      },
      async wipe() {
        rows.clear()
      },
    }
  }
}
