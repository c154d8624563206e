/**
 * Returns an IP address without the `::ffff:` prefix, with which a server that listens on IPv6 reports IPv4 clients.
 * Otherwise, the same client would have two addresses.
 */
export function plainAddress<Address extends string | null | undefined>(address: Address): Address {
  return address?.replace(/^::ffff:(?=[\d.]+$)/i, '') as Address
}
