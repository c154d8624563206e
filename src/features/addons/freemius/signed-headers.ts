import { createHash, createHmac } from 'node:crypto'

/** How the digest is encoded before base64url. */
export type DigestForm = 'bytes' | 'hex'

/** A request, and the keys to sign it with. */
export interface SignedRequest {
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly body?: string | undefined
  readonly date: Date
  readonly id: number
  readonly publicKey: string
  /** Without a secret key, the public key signs. This is enough for public data. */
  readonly secretKey?: string | undefined
  readonly form: DigestForm
}

/** Returns the headers of a signed request to Freemius. */
export function signedHeaders(request: SignedRequest): Record<string, string> {
  const { method, path, body, id, publicKey, secretKey = publicKey, form } = request
  const date = request.date.toUTCString().replace('GMT', '+0000')
  const md5 = body === undefined ? '' : createHash('md5').update(body).digest('hex')
  const type = method === 'POST' || method === 'PUT' ? 'application/json' : ''
  const digest = createHmac('sha256', secretKey).update([method, md5, type, date, path].join('\n')).digest()
  const signature = form === 'hex' ? Buffer.from(digest.toString('hex')) : digest
  const scheme = secretKey === publicKey ? 'FSP' : 'FS'
  return {
    Authorization: `${scheme} ${id}:${publicKey}:${signature.toString('base64url')}`,
    Date: date,
    ...(body === undefined ? {} : { 'Content-MD5': md5 }),
  }
}
