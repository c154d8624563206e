const OLDEST: readonly [number, number] = [6, 2]

/** What a server and its socket report about themselves. */
export interface ServerSigns {
  /** The reply to `INFO server`. */
  readonly info: string
  /** The reply to `CLIENT INFO`. */
  readonly clientInfo: string
  /** The local address of the connection, as Redis writes it; undefined if unknown. */
  readonly ownAddress: string | undefined
}

/**
 * Returns why a server cannot be trusted to push each change before any later reply, or undefined if it can.
 *
 * Redis and Valkey can be trusted: one thread runs all commands and appends pushes and replies to one buffer. Servers
 * that only share their protocol may spread keys over threads or machines.
 *
 * @param isVouchedFor Whether the application guarantees that there is no proxy in front of the server.
 */
export function whyNotBelievable(
  { info, clientInfo, ownAddress }: ServerSigns,
  isVouchedFor: boolean,
): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1]
  const version = field('valkey_version') ?? field('redis_version')
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version === undefined || /dragonfly|keydb|kvrocks|rlec|godis/i.test(info))
    return 'the server is neither Redis nor Valkey'
  if (!(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) {
    return `the server has version ${version}, but only ${OLDEST.join('.')} and newer report every change`
  }
  if ((field('server_mode') ?? field('redis_mode')) !== 'standalone')
    return 'the server is a sentinel or part of a cluster'
  const isGenuine = /^(epoll|kqueue|evport|select|poll)$/.test(field('multiplexing_api') ?? '')
  // Redis 6.2 does not report its clock yet.
  if (!isGenuine || !field('executable') || (major > 6 && !field('monotonic_clock'))) {
    return 'the server does not describe itself as Redis and Valkey do, so it may be a proxy or another product'
  }
  if (isVouchedFor) return undefined
  const seen = /(?:^| )addr=(\S+)/.exec(clientInfo)?.[1]
  if (ownAddress === undefined) {
    return 'the local address of the connection is unknown, as always with TLS, so there may be a proxy in front of the server; set tracking: true if there is none'
  }
  if (seen !== ownAddress) {
    return 'the server sees a different client address, so there may be a proxy in front of it; set tracking: true if there is none'
  }
  return undefined
}
