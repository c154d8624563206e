import { statSync } from 'node:fs'
import { resolve } from 'node:path'

/** How often to check the file. */
const LOOK_EVERY_MS = 1000

/** The file of an open database. The process continues to use it even after it was deleted or replaced. */
export class UsedFile {
  readonly #path: string
  readonly #identity: string | undefined
  #nextLook = 0

  /** @param path The path of an existing file. Anything else is not checked. */
  constructor(path: string) {
    this.#path = resolve(path)
    this.#identity = identityOf(this.#path)
  }

  /** @throws Error if the path now leads to another file, which a newly started process would open. */
  check(): void {
    const now = performance.now()
    if (this.#identity === undefined || now < this.#nextLook) return
    if (identityOf(this.#path) !== this.#identity) {
      const problem = `The file ${this.#path} of sqliteStore() was deleted or replaced while in use`
      throw new Error(`${problem}. Put it back, or restart every process of the app`)
    }
    this.#nextLook = now + LOOK_EVERY_MS
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
