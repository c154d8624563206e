/** An Ed25519 key as JWK, RFC 8037: public, or private with `d`. */
export interface Ed25519Jwk {
  /** `OKP`. */
  readonly kty?: string
  /** `Ed25519`. */
  readonly crv?: string
  /** The public key in base64url. */
  readonly x?: string
  /** The private key in base64url. */
  readonly d?: string
  readonly [member: string]: unknown
}
