import { isStyleSheet, originOf } from '../../routes/page-addresses.ts'

export interface PolicyParts {
  /** Marks the allowed scripts of this response. */
  readonly nonce: string
  /** Add-on scripts and style sheets. */
  readonly scripts: readonly string[]
  readonly scriptOrigins: readonly string[]
  readonly frameAncestors: readonly string[]
}

/** Returns the content security policy of the page: no inline code without the nonce, and no eval. */
export function contentPolicy({ nonce, scripts, scriptOrigins, frameAncestors }: PolicyParts): string {
  const originsOf = (addresses: readonly string[]) => addresses.flatMap((address) => originOf(address) ?? [])
  const styles = scripts.filter(isStyleSheet)
  const codes = scripts.filter((address) => !isStyleSheet(address))
  const directives: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'", `'nonce-${nonce}'`, ...originsOf(codes), ...scriptOrigins],
    'style-src': ["'self'", ...originsOf(styles)],
    // The catalogue contains URLs of icons and banners.
    'img-src': ["'self'", 'data:', 'https:'],
    'font-src': ["'self'"],
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': frameAncestors.length > 0 ? frameAncestors : ["'none'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...new Set(sources)].join(' '))
    .join('; ')
}
