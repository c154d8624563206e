/**
 * Returns an IP address without the `::ffff:` prefix, with which a server that listens on IPv6 reports IPv4 clients.
 * Otherwise, the same client would have two addresses.
 */
export function plainAddress<Address extends string | null | undefined>(address: Address): Address {
  return address?.replace(/^::ffff:(?=[\d.]+$)/i, '') as Address
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
