import { isIP } from 'node:net'
import { messageOf } from '../../ground/error-text.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'

const NO_NAME = 'Events are recorded without their users, because audit.identify() failed.'

/** What events may contain about a person. */
export interface EventPolicy {
  /** Returns how a user is recorded. */
  identify(user: UserId | undefined): UserId | undefined
  /** Returns how an address is recorded. */
  address(ip: string | undefined): string | undefined
  /** Whether users are recorded by their ids. */
  readonly hasIds: boolean
}

/** Creates the policy of the option `audit`. */
export function eventPolicy({ ip, identify }: Pick<ResolvedAudit, 'ip' | 'identify'>, logger: Logger): EventPolicy {
  function nameOf(user: UserId): UserId | undefined {
    if (identify === 'id') return user
    try {
      const name: unknown = identify(user)
      if (typeof name === 'string') return name
      warnOnce(logger, 'activity-not-recorded', `${NO_NAME} It returned ${typeof name}.`)
    } catch (error) {
      warnOnce(logger, 'activity-not-recorded', `${NO_NAME} ${messageOf(error)}`)
    }
    return undefined
  }

  return {
    hasIds: identify === 'id',
    identify: (user) => (user === undefined ? undefined : nameOf(user)),
    address: (address) => {
      if (address === undefined || ip === 'none') return undefined
      return ip === 'full' ? address : networkOf(address)
    },
  }
}

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address, or undefined for anything else. */
function networkOf(address: string): string | undefined {
  const [bare = ''] = address.split('%', 1)
  const mapped = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare
  if (isIP(mapped) === 4) return `${mapped.split('.').slice(0, 3).join('.')}.0`
  if (isIP(mapped) !== 6) return undefined
  const [head = '', tail] = mapped.split('::')
  const front = head === '' ? [] : head.split(':')
  // An embedded IPv4 address counts as two groups, but is at the end.
  const back = tail ? tail.split(':').length + (tail.includes('.') ? 1 : 0) : 0
  const zeros = tail === undefined ? 0 : 8 - front.length - back
  const groups = [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(tail?.split(':') ?? [])]
  return `${groups
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::`
}
