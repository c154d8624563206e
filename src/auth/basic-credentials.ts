/** User name and password from an `Authorization: Basic` header. */
export interface BasicCredentials {
  readonly name: string
  readonly password: string
}

const HEADER = /^basic +([a-z0-9+/]+={0,2}) *$/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 forbids them in both parts.
const CONTROL = /[\u0000-\u001f\u007f]/

/** Parses the header as defined in RFC 7617. Returns undefined if it is malformed. */
export function basicCredentials(header: string): BasicCredentials | undefined {
  const encoded = HEADER.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const decoded = decodeUtf8(Buffer.from(encoded, 'base64'))
  const colon = decoded?.indexOf(':') ?? -1
  if (decoded === undefined || colon < 1 || CONTROL.test(decoded)) return undefined
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
