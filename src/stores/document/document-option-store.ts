import type { OptionStore, StoredOption } from '../../options/option-store.ts'
import type { DocumentRows } from './document-rows.ts'
import { rowKey } from './row-key.ts'

/** Stores options in a database, with one row per option. */
export class DocumentOptionStore implements OptionStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async get(name: string): Promise<StoredOption | undefined> {
    const { text, revision } = await this.#rows.read(rowKey('option', name))
    return text === undefined ? undefined : { value: JSON.parse(text), revision: String(revision) }
  }

  async set(name: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value)
    await this.#rows.change(rowKey('option', name), () => ({ result: undefined, write: { text } }))
  }

  swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    const text = JSON.stringify(value)
    return this.#rows.change(rowKey('option', name), (row) => {
      const present = row.text === undefined ? undefined : String(row.revision)
      return present === revision ? { result: true, write: { text } } : { result: false }
    })
  }

  async delete(name: string): Promise<void> {
    await this.#rows.change(rowKey('option', name), ({ text }) =>
      text === undefined ? { result: undefined } : { result: undefined, write: { text: undefined } },
    )
  }
}
