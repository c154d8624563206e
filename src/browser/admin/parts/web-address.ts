/** Reads an http or https address, or a path on this site; undefined for anything else, such as `javascript:`. */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  // A second slash, of either kind, would make it an address on another site.
  const isPath = /^\/(?![/\\])/.test(value)
  if (!isPath && !/^https?:\/\//i.test(value)) return undefined
  return URL.canParse(value, window.location.href) ? new URL(value, window.location.href).href : undefined
}
