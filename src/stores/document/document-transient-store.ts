import type { TransientStore } from '../../options/transient-store.ts'
import { DocumentCounter } from './document-counter.ts'
import type { DocumentRows, ReadRow } from './document-rows.ts'
import { rowKey } from './row-key.ts'

/** Most strings are new, so the first attempt does not read the row. */
const NEW: ReadRow = { now: 0, revision: undefined, text: undefined }

/** A transient store in a database, with one row per string. */
export class DocumentTransientStore implements TransientStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async get(key: string): Promise<string | undefined> {
    const { text } = await this.#rows.read(rowKey('transient', key))
    return text === undefined ? undefined : JSON.parse(text)
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    // An empty string would mark the row as deleted, so it is stored as JSON.
    const write = { text: JSON.stringify(value), lifeMs: ttlMs }
    await this.#rows.change(rowKey('transient', key), () => ({ result: undefined, write }), NEW)
  }

  async take(key: string): Promise<string | undefined> {
    const text = await this.#rows.change(rowKey('transient', key), (row) => ({
      result: row.text,
      write: row.text === undefined ? undefined : { text: undefined },
    }))
    return text === undefined ? undefined : JSON.parse(text)
  }

  generation(group: string): Promise<number> {
    return this.#counter(group).current()
  }

  async advance(group: string): Promise<number> {
    return (await this.#counter(group).advance())?.count as number
  }

  #counter(group: string): DocumentCounter {
    return new DocumentCounter(this.#rows, rowKey('generation', group))
  }
}
