import { invalidOption } from '../ground/invalid-option.ts'
import { type Logger, warn } from '../ground/logger.ts'
import { nearestName, requireMethods } from '../ground/option-checks.ts'
import type { Host, HostUsers } from '../host/host.ts'

const HOST = ['posts', 'theme', 'location', 'attempts'] as const satisfies readonly (keyof Host)[]
const USERS = ['search', 'url'] as const satisfies readonly (keyof HostUsers)[]
const NEEDS_BOTH = ': "attempts" needs both allow and failed'
const COMMENTS_ALONE = 'To use only lazy comments, without users, call createLazyComments() from sessmgr/comments'

/**
 * Checks at startup that the option `host` has all required methods. Warns of names that look mistyped; others are the
 * application's own.
 *
 * @throws SessmgrError `invalid_option` that names the missing one.
 */
export function checkHost(host: Host | undefined, logger: Logger): Host | undefined {
  if (host === undefined) return undefined
  if (!host?.users) {
    const advice = host?.posts || host?.theme ? `. ${COMMENTS_ALONE}` : ''
    const needed = '"host" must have users and permissions: sessmgr({ host: { users, can } })'
    throw invalidOption(needed + advice)
  }
  requireMethods('host.users', host.users, ['findById', 'findByEmail', 'findByLogin', 'summary'])
  requireMethods('host', host, ['can'], ' such as (user, capability) => boolean')
  for (const name of USERS) {
    if (host.users[name] !== undefined) requireMethods('host.users', host.users, [name])
  }
  if (host.location !== undefined) requireMethods('host', host, ['location'])
  if (host.attempts !== undefined) requireMethods('host.attempts', host.attempts, ['allow', 'failed'], NEEDS_BOTH)
  warnOfTypos('host', host, HOST, logger)
  warnOfTypos('host.users', host.users, USERS, logger)
  return host
}

function warnOfTypos(owner: string, given: object, known: readonly string[], logger: Logger): void {
  for (const name of Object.keys(given)) {
    // Too many short names are near.
    const near = name.length > 3 ? nearestName(name, known) : undefined
    if (near === undefined || near in given) continue
    warn(logger, 'host-details-left-out', `"${owner}.${name}" is not used. Did you mean "${near}"?`)
  }
}
