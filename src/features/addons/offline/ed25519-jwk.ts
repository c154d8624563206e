/** An Ed25519 key as a JWK (RFC 8037). With `d`, it is the private key. */
export interface Ed25519Jwk {
  /** Always `OKP`. */
  readonly kty?: string
  /** Always `Ed25519`. */
  readonly crv?: string
  /** The public key in base64url. */
  readonly x?: string
  /** The private key in base64url. */
  readonly d?: string
  readonly [member: string]: unknown
}
