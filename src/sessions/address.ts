/**
 * Returns an IP address without the `::ffff:` prefix, with which a server that listens on IPv6 reports IPv4 clients.
 * Otherwise, the same client would have two addresses.
 */
export function plainAddress<Address extends string | null | undefined>(address: Address): Address {
  return address?.replace(/^::ffff:(?=[\d.]+$)/i, '') as Address
}

/** Returns the network of an IPv6 address that has its first groups. There are at most four. */
export function prefixOf(address: string, groups: number): string {
  const [head = '', tail] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  // An embedded IPv4 address counts as two groups. It is at the end, so it never reaches the first four groups.
  const back = tail ? tail.split(':').length + (tail.includes('.') ? 1 : 0) : 0
  const zeros = tail === undefined ? 0 : 8 - front.length - back
  const all = [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(tail?.split(':') ?? [])]
  return `${all
    .slice(0, groups)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::`
}

/**
 * Maximum length of an address, longer than any real one. Clients can forge it if too many proxies are trusted.
 */
const ADDRESS_LENGTH = 64
const USER_AGENT_LENGTH = 512

/** Returns the address and user agent of a client as they are stored and compared. */
export function clientOf({ ip, userAgent }: { ip?: string | null | undefined; userAgent?: string | null | undefined }) {
  return {
    ip: plainAddress(ip)?.slice(0, ADDRESS_LENGTH) ?? null,
    userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
  }
}
