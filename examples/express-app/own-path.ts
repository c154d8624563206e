const OWN = 'http://own.invalid'

/** Returns a URL as a path on this site, or `/` if it leads to another site. */
export function ownPath(address: unknown): string {
  if (typeof address !== 'string' || !URL.canParse(address, OWN)) return '/'
  const { origin, pathname, search, hash } = new URL(address, OWN)
  // A path such as //example.com is a URL on another host.
  return origin === OWN && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
