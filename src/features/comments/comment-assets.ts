import { script, style } from 'virtual:lazycomments-assets'
import { nodeCrypto } from '../../ground/node-crypto.ts'

/** A file for the browser. Its name changes with its content, so browsers may cache it forever. */
class HashedAsset {
  readonly type: string
  readonly text: string
  readonly #extension: string
  #name: string | undefined

  constructor(text: string, extension: string, type: string) {
    this.text = text
    this.#extension = extension
    this.type = type
  }

  /** Hashed on demand. Node's first hash takes milliseconds, which would delay every start. */
  get name(): string {
    this.#name ??= `${nodeCrypto().createHash('sha256').update(this.text).digest('hex').slice(0, 16)}.${this.#extension}`
    return this.#name
  }
}

/** The script and the style of the lazy comments. */
export const commentAssets = {
  script: new HashedAsset(script, 'js', 'text/javascript; charset=utf-8'),
  style: new HashedAsset(style, 'css', 'text/css; charset=utf-8'),
}
