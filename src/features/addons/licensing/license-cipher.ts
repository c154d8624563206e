import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A stored string. It is encrypted, or plain if there is no secret. */
export type StoredText = { readonly sealed: string } | { readonly plain: string }

/** Encrypts stored license data. */
export interface LicenseCipher {
  /** Encrypts a string. Decrypting it requires the same `context`. */
  seal(text: string, context: string): StoredText
  /**
   * Decrypts a stored string, or returns undefined if no secret fits. `isOld` means that it should be encrypted again.
   */
  open(stored: StoredText, context: string): { readonly text: string; readonly isOld: boolean } | undefined
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates the cipher: AES-256-GCM with a key derived from a secret by HKDF.
 *
 * @param secrets The secrets, newest first. The first one encrypts, all decrypt. Without secrets, nothing is encrypted.
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
