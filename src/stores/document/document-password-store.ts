import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-password-store.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { DocumentRows } from './document-rows.ts'
import { rowKey } from './row-key.ts'

/** Stores application passwords in a database, with one row per user. */
export class DocumentPasswordStore implements ApplicationPasswordStore {
  readonly #rows: DocumentRows

  constructor(rows: DocumentRows) {
    this.#rows = rows
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    const { id, name, hash, createdAt } = password
    await this.#rows.change(keyOf(userId), ({ text }) => {
      const others = parse(text).filter((it) => it.id !== id)
      return { result: undefined, write: { text: JSON.stringify([...others, { id, name, hash, createdAt }]) } }
    })
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    const { text } = await this.#rows.read(keyOf(userId))
    return parse(text).toSorted((a, b) => a.createdAt - b.createdAt)
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    const { text = '' } = await this.#rows.read(keyOf(userId))
    // Search the raw string: the time to parse it would depend on the number of passwords.
    return text.includes(`"hash":${JSON.stringify(hash)}`)
  }

  remove(userId: UserId, id: string): Promise<boolean> {
    return this.#rows.change(keyOf(userId), ({ text }) => {
      const present = parse(text)
      const left = present.filter((it) => it.id !== id)
      if (left.length === present.length) return { result: false }
      return { result: true, write: { text: left.length > 0 ? JSON.stringify(left) : undefined } }
    })
  }
}

function parse(text = '[]'): readonly StoredPassword[] {
  return JSON.parse(text)
}

function keyOf(userId: UserId): string {
  return rowKey('passwords', String(userId))
}
