import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentRows } from './document-rows.ts'

/** A count that only ever grows, in a row of its own. */
export class DocumentCounter {
  readonly #rows: DocumentRows
  readonly #key: string

  constructor(rows: DocumentRows, key: string) {
    this.#rows = rows
    this.#key = key
  }

  /** Reads the count; 0 before the first step. */
  async current(): Promise<number> {
    return this.#count((await this.#rows.read(this.#key)).text)
  }

  /** Moves on by one, if the count is still `from`; undefined: whichever it is. Gives the new count, and the time. */
  advance(from?: number): Promise<{ readonly count: number; readonly now: number } | undefined> {
    return this.#rows.change(this.#key, ({ text, now }) => {
      const count = this.#count(text)
      if (from !== undefined && from !== count) return { result: undefined }
      return { result: { count: count + 1, now }, write: { text: String(count + 1) } }
    })
  }

  /** Taken for a number, anything but digits could revive ended sessions. */
  #count(text = '0'): number {
    if (/^\d{1,15}$/.test(text)) return Number(text)
    const cure = 'Set it to a whole number that is larger than it ever was, such as 1000000'
    throw new SessmgrError(
      'store_unavailable',
      `The row "${this.#key}" of sessmgr is damaged: it is no whole number. ${cure}.`,
    )
  }
}
