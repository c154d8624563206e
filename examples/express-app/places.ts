/** Places of private addresses, and of addresses for documentation. A real application would ask a GeoIP database. */
const PLACES = [
  ['127.', 'This machine'],
  ['::1', 'This machine'],
  ['10.', 'Office network'],
  ['192.168.', 'Home network'],
  ['192.0.2.', 'Berlin, DE'],
  ['198.51.100.', 'Leipzig, DE'],
  ['203.0.113.', 'London, GB'],
] as const

/** Returns the place of an IP address, or undefined if it is not in the table. */
export function placeOf(ip: string): string | undefined {
  const plain = ip.replace(/^::ffff:/, '')
  return PLACES.find(([prefix]) => plain.startsWith(prefix))?.[1]
}
