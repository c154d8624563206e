const OWN = 'http://own.invalid'

/** Returns an address as a path of this site, or `/` for one that leads anywhere else. */
export function ownPath(address: unknown): string {
  if (typeof address !== 'string' || !URL.canParse(address, OWN)) return '/'
  const { origin, pathname, search, hash } = new URL(address, OWN)
  // The path may itself look like the address of another host.
  return origin === OWN && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
