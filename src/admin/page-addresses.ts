/** Tells whether a value is the address of a page or file: a path on this site, or an http or https address. */
export function isAddress(value: unknown): value is string {
  if (typeof value !== 'string' || /[\s\\]/.test(value)) return false
  return /^https?:\/\//.test(value) ? URL.canParse(value) : /^\/(?!\/)/.test(value)
}

/** Gives the origin of an address on another site; undefined for a path. */
export function originOf(address: string): string | undefined {
  return address.startsWith('/') ? undefined : new URL(address).origin
}

/** Tells whether an address is one of a style sheet. */
export function isStyleSheet(address: string): boolean {
  return /\.css([?#]|$)/.test(address)
}
