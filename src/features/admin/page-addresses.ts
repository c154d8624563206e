/** Tells whether a value is the address of a page or file: a path on this site, or an http or https address. */
export function isAddress(value: unknown): value is string {
  if (typeof value !== 'string' || /[\s\\]/.test(value)) return false
  return /^https?:\/\//.test(value) ? URL.canParse(value) : /^\/(?!\/)/.test(value)
}

/** Tells whether a value is an address where people find help: that of a page, or a mailto: one. */
export function isHelpAddress(value: unknown): value is string {
  return isAddress(value) || (typeof value === 'string' && /^mailto:[^\s@]+@[^\s@]+$/.test(value))
}

/** Gives the origin of an address on another site; undefined for a path. */
export function originOf(address: string): string | undefined {
  return address.startsWith('/') ? undefined : new URL(address).origin
}

/** Tells whether an address is one of a style sheet. */
export function isStyleSheet(address: string): boolean {
  return /\.css([?#]|$)/.test(address)
}
