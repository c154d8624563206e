import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A text as it is stored: encrypted, or as it is where nobody gave a secret. */
export type StoredText = { readonly sealed: string } | { readonly plain: string }

/** Encrypts what is stored of licences. */
export interface LicenseCipher {
  /** Makes the stored form of a text. `context` must be the same when it is opened. */
  seal(text: string, context: string): StoredText
  /** Reads a stored text; undefined when no secret opens it. `isOld`: it should be sealed anew. */
  open(stored: StoredText, context: string): { readonly text: string; readonly isOld: boolean } | undefined
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates the cipher: AES-256-GCM with a key that HKDF derives from a secret.
 *
 * @param secrets The secrets, newest first: the first one seals, all of them open. None: nothing is encrypted.
 */
export function createLicenseCipher(secrets: readonly string[]): LicenseCipher {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, 'sessmgr', 'licences at rest', 32)))
  return {
    seal(text, context) {
      const [key] = keys
      if (!key) return { plain: text }
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context))
      const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return { sealed: Buffer.concat(parts).toString('base64url') }
    },
    open(stored, context) {
      if ('plain' in stored) return { text: stored.plain, isOld: keys.length > 0 }
      const bytes = Buffer.from(stored.sealed, 'base64url')
      for (const [index, key] of keys.entries()) {
        const text = decrypt(key, bytes, context)
        if (text !== undefined) return { text, isOld: index > 0 }
      }
      return undefined
    },
  }
}

function decrypt(key: Buffer, bytes: Buffer, context: string): string | undefined {
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const start = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
