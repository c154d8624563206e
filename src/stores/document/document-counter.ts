import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentRows, ReadRow } from './document-rows.ts'

/** A counter that only grows, in its own row. */
export class DocumentCounter {
  readonly #rows: DocumentRows
  readonly #key: string

  constructor(rows: DocumentRows, key: string) {
    this.#rows = rows
    this.#key = key
  }

  /** Reads the counter, which starts at 0. */
  async current(): Promise<number> {
    return this.#count(await this.#rows.read(this.#key))
  }

  /**
   * Increments the counter if it is still `from`, or in any case if `from` is undefined. Returns the new count and the
   * time.
   */
  advance(from?: number): Promise<{ readonly count: number; readonly now: number } | undefined> {
    return this.#rows.change(this.#key, (row) => {
      const count = this.#count(row)
      if (from !== undefined && from !== count) return { result: undefined }
      return { result: { count: count + 1, now: row.now }, write: { text: String(count + 1) } }
    })
  }

  /**
   * Rejects anything except digits, even an empty row. Reading it as a number could make ended sessions valid again.
   */
  #count({ revision, text = '' }: ReadRow): number {
    if (revision === undefined) return 0
    if (/^\d{1,15}$/.test(text)) return Number(text)
    const cure = 'Set it to a whole number larger than it has ever been, such as 1000000'
    throw new SessmgrError(
      'store_unavailable',
      `The row "${this.#key}" in the sessmgr database is damaged: it is not a whole number. ${cure}.`,
    )
  }
}
