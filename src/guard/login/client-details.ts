const USER_AGENT_LENGTH = 512
/** More than an address needs; behind a proxy that is trusted too far it is any text that a client chose. */
const ADDRESS_LENGTH = 64

/** What is remembered of the client that logs in. */
export interface ClientDetails {
  readonly ip: string | null
  readonly userAgent: string | null
}

/** Cuts what a client says of itself to a length that can be kept. */
export function clientDetails(ip: string | null | undefined, userAgent: string | null | undefined): ClientDetails {
  return { ip: ip?.slice(0, ADDRESS_LENGTH) ?? null, userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null }
}
